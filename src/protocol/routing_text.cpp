#include "routing_text.hpp"

#include <string_view>

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
  // A member that counts only as a string. Filled in place: an optional's copies are as dear as the
  // scan of a short string.
  struct Member {
    JsonString string;
    bool present = false;

    bool is(std::string_view text) const { return present && equals(string, text); }
  };

  struct Message {
    Member role;
    Member type;
    Member content;
    Member reasoning;
    bool has_parts = false;  // content is an array; its text is in the joiner

    void clear() {
      role.present = type.present = content.present = reasoning.present = has_parts = false;
    }
  };

  void read_member(Member& member) {
    member.present = scanner_.kind() == JsonKind::string;
    if (member.present) {
      scanner_.read_string(member.string);
    } else {
      scanner_.skip_value();
    }
  }

  void add(const Member& member) {
    if (member.present) joiner_.add_unless_empty(member.string);
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
    const TextJoiner::Mark before = joiner_.mark();
    Message& message = message_;
    message.clear();
    scanner_.enter();
    JsonString key;
    while (scanner_.next_key(key)) {
      if (equals(key, "content")) {
        joiner_.rewind(before);
        read_content(message);
      } else if (equals(key, "role")) {
        read_member(message.role);
      } else if (shape_ == TextShape::chat_messages && equals(key, "reasoning_content")) {
        read_member(message.reasoning);
      } else if (shape_ == TextShape::response_items && equals(key, "type")) {
        read_member(message.type);
      } else {
        scanner_.skip_value();
      }
    }
    if (!counts(message)) {
      joiner_.rewind(before);
      return;
    }
    add(message.content);
    if (message.role.is("assistant")) add(message.reasoning);
  }

  // Whether the message's content is routing text.
  bool counts(const Message& message) const {
    if (shape_ == TextShape::response_items) {
      return !message.type.present || message.type.is("message") || message.type.is("reasoning");
    }
    const bool function = shape_ == TextShape::chat_messages && message.role.is("function");
    return !function || !message.has_parts;
  }

  void read_content(Message& message) {
    message.has_parts = scanner_.kind() == JsonKind::array;
    if (!message.has_parts) {
      read_member(message.content);
      return;
    }
    message.content.present = false;
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
    Member type;
    Member text;
    scanner_.enter();
    JsonString key;
    while (scanner_.next_key(key)) {
      if (equals(key, "type")) {
        read_member(type);
      } else if (equals(key, "text")) {
        read_member(text);
      } else {
        scanner_.skip_value();
      }
    }
    if (is_text_part(type)) add(text);
  }

  bool is_text_part(const Member& type) const {
    if (shape_ != TextShape::response_items) return type.is("text");
    // The last one occurs in reasoning items only.
    return type.is("input_text") || type.is("output_text") || type.is("reasoning_text");
  }

  JsonScanner& scanner_;
  TextJoiner& joiner_;
  TextShape shape_;
  Message message_;  // one at a time
};

}  // namespace

void read_text(JsonScanner& scanner, TextShape shape, TextJoiner& joiner) {
  TextReader(scanner, shape, joiner).read();
}

}  // namespace smg::protocol
