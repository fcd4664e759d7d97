// What the parsers raise: Python learns a line, a column (None where none is meant) and a reason as attributes.
#include <nanobind/stl/string.h>

#include "text/text.hpp"

namespace veilset {
namespace {

template <class Error>
nb::object error_type(nb::module_& m, const char* name, nb::handle base) {
    const nb::exception<Error> type(m, name, base);
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* payload) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Error& error) {
                const nb::handle wanted(static_cast<PyObject*>(payload));
                PyErr_SetString(wanted.ptr(), error.what());
                nb::python_error raised;
                if (raised.matches(wanted)) {  // else a text was quoted that is not UTF-8
                    raised.value().attr("line") = error.line;
                    if (error.column >= 0) raised.value().attr("column") = error.column;
                    raised.value().attr("reason") = error.reason;
                }
                raised.restore();
            }
        },
        type.ptr());
    return type;
}

}  // namespace

void register_text_errors(nb::module_& m) {
    const nb::object parse_error = error_type<ParseError>(m, "ParseError", PyExc_ValueError);
    parse_error.attr("column") = nb::none();
    error_type<NoPerson>(m, "NoPerson", parse_error);
    error_type<WrongWidth>(m, "WrongWidth", parse_error);
}

}  // namespace veilset
