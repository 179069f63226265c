#include "base/nested_json.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace starpmc {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_depth() {
  throw json::other_error::create(501, "nested more than " + std::to_string(kDeepestJson) + " deep",
                                  nullptr);
}

/// Looks at nothing but the depth, which stops the parser before it is too deep.
class DepthCheck : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return go_down(); }
  bool start_array(std::size_t) override { return go_down(); }
  bool end_object() override { return go_up(); }
  bool end_array() override { return go_up(); }
  /// Reported by the parser that comes after this one.
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool go_down() {
    if (++depth_ > kDeepestJson) refuse_depth();
    return true;
  }
  bool go_up() {
    --depth_;
    return true;
  }
  int depth_ = 0;
};

}  // namespace

json parse_json(std::string_view text) {
  DepthCheck check;
  json::sax_parse(text, &check);
  return json::parse(text);
}

json parse_cbor(std::string_view bytes) {
  DepthCheck check;
  json::sax_parse(bytes, &check, json::input_format_t::cbor);
  return json::from_cbor(bytes);
}

}  // namespace starpmc
