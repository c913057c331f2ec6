#include "routing_text.hpp"

#include <optional>

namespace smg::protocol {
namespace {

// Keys come in any order and more than once (the last one counts), so an object's members are kept
// until its end and judged there; parts of a content array are written at once and taken back.
class TextReader {
 public:
  TextReader(JsonScanner& scanner, TextShape shape, TextJoiner& joiner)
      : scanner_(scanner), joiner_(joiner), shape_(shape) {}

  void read() {
    const JsonKind kind = scanner_.kind();
    const bool list_only =
        shape_ == TextShape::chat_messages || shape_ == TextShape::anthropic_messages;
    if (kind == JsonKind::string && !list_only) {
      read_string();
    } else if (kind == JsonKind::array && shape_ != TextShape::string) {
      read_array();
    } else {
      scanner_.skip_value();
    }
  }

 private:
  struct Message {
    std::optional<JsonString> role;
    std::optional<JsonString> type;
    std::optional<JsonString> content;
    std::optional<JsonString> reasoning;
    bool has_parts = false;  // content is an array; its text is in the joiner
  };

  static bool is(const std::optional<JsonString>& string, std::string_view text) {
    return string.has_value() && equals(*string, text);
  }

  std::optional<JsonString> optional_string() {
    if (scanner_.kind() == JsonKind::string) {
      JsonString string;
      scanner_.read_string(string);
      return string;
    }
    scanner_.skip_value();
    return std::nullopt;
  }

  void read_string() {
    JsonString string;
    if (scanner_.read_string(string)) joiner_.add_unless_empty(string);
  }

  void read_array() {
    scanner_.enter();
    while (scanner_.next_element()) {
      const JsonKind kind = scanner_.kind();
      if (shape_ == TextShape::strings && kind == JsonKind::string) {
        JsonString string;
        if (scanner_.read_string(string)) joiner_.add(string);
      } else if (shape_ == TextShape::strings || kind != JsonKind::object) {
        scanner_.skip_value();
      } else if (shape_ == TextShape::blocks) {
        read_part();
      } else {
        read_message();
      }
    }
  }

  void read_message() {
    const TextJoiner::Section before = joiner_.mark();
    Message message;
    scanner_.enter();
    JsonString key;
    while (scanner_.next_key(key)) {
      if (equals(key, "content")) {
        joiner_.rewind(before);
        read_content(message);
      } else if (equals(key, "role")) {
        message.role = optional_string();
      } else if (shape_ == TextShape::chat_messages && equals(key, "reasoning_content")) {
        message.reasoning = optional_string();
      } else if (shape_ == TextShape::response_items && equals(key, "type")) {
        message.type = optional_string();
      } else {
        scanner_.skip_value();
      }
    }
    if (!counts(message)) {
      joiner_.rewind(before);
      return;
    }
    if (message.content) joiner_.add_unless_empty(*message.content);
    if (message.reasoning && is(message.role, "assistant")) {
      joiner_.add_unless_empty(*message.reasoning);
    }
  }

  // Whether the message's content is routing text.
  bool counts(const Message& message) const {
    if (shape_ == TextShape::response_items) {
      return !message.type || equals(*message.type, "message") ||
             equals(*message.type, "reasoning");
    }
    const bool function = shape_ == TextShape::chat_messages && is(message.role, "function");
    return !function || !message.has_parts;
  }

  void read_content(Message& message) {
    message.content.reset();
    message.has_parts = scanner_.kind() == JsonKind::array;
    if (!message.has_parts) {
      message.content = optional_string();
      return;
    }
    scanner_.enter();
    while (scanner_.next_element()) {
      if (scanner_.kind() == JsonKind::object) {
        read_part();
      } else {
        scanner_.skip_value();
      }
    }
  }

  void read_part() {
    std::optional<JsonString> type;
    std::optional<JsonString> text;
    scanner_.enter();
    JsonString key;
    while (scanner_.next_key(key)) {
      if (equals(key, "type")) {
        type = optional_string();
      } else if (equals(key, "text")) {
        text = optional_string();
      } else {
        scanner_.skip_value();
      }
    }
    if (type && text && is_text_part(*type)) joiner_.add_unless_empty(*text);
  }

  bool is_text_part(const JsonString& type) const {
    if (shape_ != TextShape::response_items) return equals(type, "text");
    // The last one occurs in reasoning items only.
    return equals(type, "input_text") || equals(type, "output_text") ||
           equals(type, "reasoning_text");
  }

  JsonScanner& scanner_;
  TextJoiner& joiner_;
  TextShape shape_;
};

}  // namespace

void read_text(JsonScanner& scanner, TextShape shape, TextJoiner& joiner) {
  TextReader(scanner, shape, joiner).read();
}

}  // namespace smg::protocol
