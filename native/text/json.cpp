// JSON lines: a transaction a line (an array, or an object with one or several), or an item a line (an object with an
// id and an item).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "text/json.hpp"

namespace veilset {
namespace {

template <class Error = ParseError>
[[noreturn]] void fail_missing(const Json& json, const std::string& key) {
    constexpr size_t most = 10;
    std::string there;
    for (size_t i = 0; i < std::min(most, json.keys().size()); ++i) there += (i ? ", " : "") + shown(json.keys()[i]);
    if (json.keys().size() > most) there += " and " + std::to_string(json.keys().size() - most) + " more";
    json.fail<Error>("there is no key " + shown(key) + "; " +
                     (there.empty() ? "the object has no keys at all" : "its keys are " + there));
}

// Calls line() at each line that holds something; it must read the line's value. Gives the number of blank lines.
template <class Line>
int64_t read_lines(Json& json, Line line) {
    int64_t blank_lines = 0;
    for (; !json.done(); json.end_line()) {
        json.next();
        if (json.line_ends()) ++blank_lines;
        else line();
    }
    return blank_lines;
}

// An array of names, or null for an empty one.
void read_items(Json& json, int depth, Dictionary& names, std::vector<int32_t>& codes, const std::string& where) {
    if (json.next() == '[') json.array(depth, [&] { codes.push_back(names.code(json.name("an item"))); });
    else if (!json.take_null()) json.fail(where + " is " + json.found() + ", not an array of items");
}

nb::tuple parse_json_lines(const nb::bytes& input, int64_t start, int64_t line, bool last,
                           const std::optional<std::string>& key, const std::optional<std::string>& person) {
    if (person && (!key || *key == *person))
        throw std::invalid_argument("person must be another key of the same object");
    const Block block(input, start, line, last);
    Json json(block);
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> codes, owners;
    Dictionary names(block.text), owner_names(block.text);
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        auto read_object = [&] {
            if (json.next() != '{') json.fail("this line is " + json.found() + ", not an object");
            bool has_items = false;
            json.object(1, [&](std::string_view found) {
                if (found == *key) {
                    has_items = true;
                    read_items(json, 2, names, codes, "the value of " + shown(found));
                } else if (person && found == *person) {
                    owners.push_back(owner_names.code(json.name<NoPerson>("the person")));
                } else {
                    json.skip(2);
                }
            });
            if (!has_items) fail_missing(json, *key);
            if (person && owners.size() < offsets.size()) fail_missing<NoPerson>(json, *person);
        };
        blank_lines = read_lines(json, [&] {
            if (key) read_object();
            else read_items(json, 1, names, codes, "this line");
            offsets.push_back(int64_t(codes.size()));
        });
    }
    nb::tuple strings = names.to_arrow(codes);
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(codes)), strings, json.consumed(),
                          json.line(), blank_lines, coded(std::move(owners), owner_names));
}

nb::tuple parse_json_long(const nb::bytes& input, int64_t start, int64_t line, bool last, const std::string& id_key,
                          const std::string& item_key) {
    if (id_key == item_key) throw std::invalid_argument("the id and the item must have different keys");
    const Block block(input, start, line, last);
    Json json(block);
    std::vector<int32_t> ids, items;
    Dictionary id_names(block.text), item_names(block.text);
    bool item_is_named = false;
    std::vector<std::string> keys;  // of the first line
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        blank_lines = read_lines(json, [&] {
            if (json.next() != '{') json.fail("this line is " + json.found() + ", not an object");
            const size_t rows = ids.size();
            items.push_back(empty_field);
            json.object(1, [&](std::string_view found) {
                if (found == id_key) ids.push_back(id_names.code(json.name("the id")));
                else if (found != item_key) json.skip(2);
                else if (item_is_named = true; !json.take_null()) items.back() = item_names.code(json.name("the item"));
            });
            if (ids.size() == rows) fail_missing(json, id_key);
            if (rows == 0) keys.assign(json.keys().begin(), json.keys().end());
        });
    }
    nb::list columns;
    columns.append(coded(std::move(ids), id_names));
    columns.append(coded(std::move(items), item_names));
    return nb::make_tuple(columns, blank_lines, json.consumed(), json.line(), item_is_named, keys);
}

// Objects that have exactly these keys: `first` with a name, the others with an array of items each. The arrays come
// key by key, and of a key line by line. No line is blank, so that a row's line follows from its number.
nb::tuple parse_json_columns(const nb::bytes& input, int64_t start, int64_t line, bool last, const std::string& first,
                             const std::vector<std::string>& keys) {
    const Block block(input, start, line, last);
    Json json(block);
    std::vector<int32_t> values;
    std::vector<std::vector<int64_t>> ends(keys.size());
    std::vector<std::vector<int32_t>> codes(keys.size());
    Dictionary names(block.text), value_names(block.text);
    auto value_of = [](const std::string& key) { return "the value of " + shown(key); };
    const std::string of_first = value_of(first);
    std::vector<std::string> of_key(keys.size());
    std::transform(keys.begin(), keys.end(), of_key.begin(), value_of);
    {
        nb::gil_scoped_release release;
        for (; !json.done(); json.end_line()) {
            json.next();
            if (json.line_ends()) json.fail("this line is blank");
            if (json.next() != '{') json.fail("this line is " + json.found() + ", not an object");
            const size_t rows = values.size();
            size_t member = 0;
            json.object(1, [&](std::string_view found) {
                if (found == first) {
                    values.push_back(value_names.code(json.name(of_first.c_str())));
                    return;
                }
                // They are nearly always in the same order.
                size_t key = member < keys.size() && found == keys[member]
                                 ? member
                                 : size_t(std::find(keys.begin(), keys.end(), found) - keys.begin());
                if (key == keys.size()) json.fail("the first line has no key " + shown(found));
                member = key + 1;
                read_items(json, 2, names, codes[key], of_key[key]);
                ends[key].push_back(int64_t(codes[key].size()));
            });
            if (values.size() == rows) fail_missing(json, first);
            for (size_t key = 0; key < keys.size(); ++key)
                if (ends[key].size() == rows) fail_missing(json, keys[key]);
        }
    }
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> all;
    for (size_t key = 0; key < keys.size(); ++key) {
        for (int64_t end : ends[key]) offsets.push_back(int64_t(all.size()) + end);
        all.insert(all.end(), codes[key].begin(), codes[key].end());
    }
    nb::tuple strings = names.to_arrow();
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(all)), strings,
                          coded(std::move(values), value_names), json.consumed(), json.line());
}

}  // namespace

void register_text_json(nb::module_& m) {
    m.def("parse_json_lines", &parse_json_lines, nb::arg("text"), nb::arg("start"), nb::arg("line"), nb::arg("last"),
          nb::arg("key").none(), nb::arg("person").none());
    m.def("parse_json_long", &parse_json_long, nb::arg("text"), nb::arg("start"), nb::arg("line"), nb::arg("last"),
          nb::arg("id_key"), nb::arg("item_key"));
    m.def("parse_json_columns", &parse_json_columns, nb::arg("text"), nb::arg("start"), nb::arg("line"),
          nb::arg("last"), nb::arg("first"), nb::arg("keys"));
}

}  // namespace veilset
