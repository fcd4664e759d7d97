// JSON lines: a transaction a line (an array, or an object with one or several), or an item a line (an object with an
// id and an item).
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "text/json.hpp"

namespace veilset {
namespace {

template <class Error = ParseError>
[[noreturn]] void fail_missing(const Json& json, const std::string& key) {
    const View<std::string_view> keys = json.keys();
    const Index listed = std::min<Index>(10, keys.size());
    std::string there;
    for (std::string_view present : keys.first(listed)) there += (there.empty() ? "" : ", ") + shown(present);
    if (keys.size() > listed) there += " and " + std::to_string(keys.size() - listed) + " more";
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

int32_t code_of(Dictionary& names, std::string_view name) { return name.empty() ? empty_field : names.code(name); }

// An array of names, or null for an empty one.
void read_items(Json& json, int depth, Dictionary& names, List<int32_t>& codes, const std::string& where) {
    if (json.next() == '[') json.array(depth, [&] { codes.push_back(code_of(names, json.name("an item"))); });
    else if (!json.take_null()) json.fail(where + " is " + json.found() + ", not an array of items");
}

nb::tuple parse_json_lines(const nb::bytes& input, int64_t start, int64_t line, bool last,
                           const std::optional<std::string>& key, const std::optional<std::string>& person, bool gaps) {
    if (person && (!key || *key == *person))
        throw std::invalid_argument("person must be another key of the same object");
    Json json(Block(input, start, line, last), gaps);
    List<int64_t> offsets{0};
    Coded items(json.text), owners(json.text);
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        auto read_object = [&] {
            bool has_items = false;
            json.line_object([&](std::string_view found) {
                if (found == *key) {
                    has_items = true;
                    read_items(json, 2, items.names, items.codes, "the value of " + shown(found));
                } else if (person && found == *person) {
                    owners.add(json.name<NoPerson>("the person"));
                } else {
                    json.skip(2);
                }
            });
            if (!has_items) fail_missing(json, *key);
            if (person && owners.codes.size() < offsets.size()) {
                if (!gaps) fail_missing<NoPerson>(json, *person);
                owners.add({});
            }
        };
        blank_lines = read_lines(json, [&] {
            if (key) read_object();
            else read_items(json, 1, items.names, items.codes, "this line");
            offsets.push_back(items.codes.size());
        });
    }
    nb::tuple strings = items.names.to_arrow(items.codes);
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(items.codes)), strings, json.consumed(),
                          json.line, blank_lines, owners.to_python());
}

nb::tuple parse_json_long(const nb::bytes& input, int64_t start, int64_t line, bool last, const std::string& id_key,
                          const std::string& item_key, bool gaps) {
    if (id_key == item_key) throw std::invalid_argument("the id and the item must have different keys");
    Json json(Block(input, start, line, last), gaps);
    Coded ids(json.text), items(json.text);
    bool item_is_named = false;
    std::vector<std::string> keys;  // of the first line
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        blank_lines = read_lines(json, [&] {
            const Index rows = ids.codes.size();
            items.codes.push_back(empty_field);
            json.line_object([&](std::string_view found) {
                if (found == id_key) ids.add(json.name("the id"));
                else if (found != item_key) json.skip(2);
                else if (item_is_named = true; !json.take_null())
                    items.codes.back() = code_of(items.names, json.name("the item"));
            });
            if (ids.codes.size() == rows) {
                if (!gaps) fail_missing(json, id_key);
                ids.add({});
            }
            if (rows == 0) keys.assign(json.keys().begin(), json.keys().end());
        });
    }
    nb::list columns;
    for (Coded* column : {&ids, &items}) columns.append(column->to_python());
    return nb::make_tuple(columns, blank_lines, json.consumed(), json.line, item_is_named, keys);
}

// Objects that have exactly these keys: `first` with a name, the others with an array of items each. The arrays come
// key by key, and of a key line by line. No line is blank, so that a row's line follows from its number.
nb::tuple parse_json_columns(const nb::bytes& input, int64_t start, int64_t line, bool last, const std::string& first,
                             const std::vector<std::string>& keys) {
    Json json(Block(input, start, line, last));
    Coded values(json.text);
    Dictionary names(json.text);
    struct Column {
        std::string key, whose;
        List<int64_t> ends{};
        List<int32_t> codes{};
    };
    auto value_of = [](const std::string& key) { return "the value of " + shown(key); };
    const std::string of_first = value_of(first);
    List<Column> columns;
    for (const std::string& key : keys) columns.push_back({key, value_of(key)});
    {
        nb::gil_scoped_release release;
        for (; !json.done(); json.end_line()) {
            json.next();
            if (json.line_ends()) json.fail("this line is blank");
            const Index rows = values.codes.size();
            auto next = columns.begin();  // they are nearly always in the same order
            json.line_object([&](std::string_view found) {
                if (found == first) return values.add(json.name(of_first));
                if (next == columns.end() || found != next->key) next = std::ranges::find(columns, found, &Column::key);
                if (next == columns.end()) json.fail("the first line has no key " + shown(found));
                read_items(json, 2, names, next->codes, next->whose);
                next->ends.push_back(next->codes.size());
                ++next;
            });
            if (values.codes.size() == rows) fail_missing(json, first);
            for (const Column& column : columns)
                if (column.ends.size() == rows) fail_missing(json, column.key);
        }
    }
    List<int64_t> offsets{0};
    List<int32_t> all;
    for (const Column& column : columns) {
        for (int64_t end : column.ends) offsets.push_back(all.size() + end);
        all.insert(all.end(), column.codes.begin(), column.codes.end());
    }
    nb::tuple strings = names.to_arrow();
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(all)), strings, values.to_python(),
                          json.consumed(), json.line);
}

}  // namespace

void register_text_json(nb::module_& m) {
    m.def("parse_json_lines", &parse_json_lines, "text"_a, "start"_a, "line"_a, "last"_a, "key"_a.none(),
          "person"_a.none(), "gaps"_a = false);
    m.def("parse_json_long", &parse_json_long, "text"_a, "start"_a, "line"_a, "last"_a, "id_key"_a, "item_key"_a,
          "gaps"_a = false);
    m.def("parse_json_columns", &parse_json_columns, "text"_a, "start"_a, "line"_a, "last"_a, "first"_a, "keys"_a);
}

}  // namespace veilset
