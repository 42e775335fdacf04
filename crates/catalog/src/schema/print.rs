//! Prints types as text.

use super::{
    aliases::Types,
    types::{Element, Member, Shape, Type},
};
use crate::{
    bounds::{DECLARATION_BYTES, LINE_CHARS, SIGNATURE_BYTES, SIGNATURE_DEPTH, UNION_PRODUCT},
    identifier::is_identifier,
    text::{comment, quoted},
};

/// The layout of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// A line of bounded length, without comments and names, which omits whatever is too deep or
    /// too large.
    Signature,
    /// As many lines as necessary.
    Block,
    /// A short line, or else nothing: a block uses it for an object that fits.
    Short,
}

impl Room {
    fn bytes(self) -> usize {
        match self {
            Self::Signature => SIGNATURE_BYTES,
            Self::Block => DECLARATION_BYTES,
            Self::Short => LINE_CHARS,
        }
    }
}

/// Prints types until the budget is used up: after that, types are `unknown` and members are
/// counted. It always prints whole types.
pub(crate) struct Printer<'t> {
    types: &'t Types,
    /// The prefix of each type's name.
    prefix: &'t str,
    room: Room,
    text: String,
    /// Whether something did not fit into [`Room::Short`].
    overflowed: bool,
}

impl<'t> Printer<'t> {
    /// A printer with no text.
    pub(crate) fn new(types: &'t Types, prefix: &'t str, room: Room) -> Self {
        Self { types, prefix, room, text: String::new(), overflowed: false }
    }

    /// The text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Prints a type whose lines begin at `indent`.
    pub(crate) fn kind(&mut self, kind: &Type, indent: usize) {
        self.nested(kind, indent, 0);
    }

    fn is_full(&mut self) -> bool {
        let full = self.text.len() >= self.room.bytes();
        self.overflowed |= full;
        full
    }

    /// The type to print for a type: the target of a name that is not to be printed.
    fn resolved<'k>(&self, kind: &'k Type) -> &'k Type
    where
        't: 'k,
    {
        let mut kind = kind;
        // Names that refer to names are no longer circular. The bound only makes that obvious to a
        // reader.
        for _ in 0..=self.types.aliases.len() {
            match kind {
                Type::Named(name) => match self.types.aliases.get(*name) {
                    Some(alias) if alias.inline || self.room == Room::Signature => kind = &alias.body,
                    _ => return kind,
                },
                _ => return kind,
            }
        }
        &Type::Unknown
    }

    fn nested(&mut self, kind: &Type, indent: usize, depth: usize) {
        let kind = self.resolved(kind);
        let too_deep = self.room == Room::Signature && depth >= SIGNATURE_DEPTH;
        if self.is_full() && !matches!(kind, Type::Plain(_) | Type::Never) {
            self.text.push_str("unknown");
            return;
        }
        match kind {
            Type::Unknown => self.text.push_str("unknown"),
            Type::Never => self.text.push_str("never"),
            Type::Plain(name) => self.text.push_str(name),
            Type::Literal(text) => self.text.push_str(text),
            Type::Named(name) => match self.types.aliases.get(*name) {
                Some(alias) => {
                    self.text.push_str(self.prefix);
                    self.text.push_str(&alias.name);
                }
                None => self.text.push_str("unknown"),
            },
            Type::Array(_) | Type::Tuple(..) if too_deep => self.text.push_str("unknown[]"),
            Type::Object(_) if too_deep => self.text.push_str("Record<string, unknown>"),
            Type::Array(element) => {
                self.grouped(element, indent, depth + 1);
                self.text.push_str("[]");
            }
            Type::Tuple(elements, rest) => self.tuple(elements, rest.as_deref(), indent, depth + 1),
            Type::Object(shape) => self.object(shape, indent, depth + 1),
            Type::Union(kinds) => self.joined(kinds, " | ", indent, depth),
            Type::Intersection(kinds) => {
                let mut product = 1_usize;
                let fits = |kind: &&Type| {
                    let next = product.saturating_mul(self.types.members(kind));
                    let fits = product == 1 || next <= UNION_PRODUCT;
                    if fits {
                        product = next;
                    }
                    fits
                };
                let kinds: Vec<&Type> = kinds.iter().filter(fits).collect();
                self.joined(kinds, " & ", indent, depth);
            }
        }
    }

    fn joined<'k>(&mut self, kinds: impl IntoIterator<Item = &'k Type>, separator: &str, indent: usize, depth: usize) {
        let mut kinds = kinds.into_iter().peekable();
        while let Some(kind) = kinds.next() {
            if self.is_full() {
                // A union with `unknown` is `unknown`, and an intersection with it is the rest. If
                // only texts are left out, `string` says more.
                let texts = std::iter::once(kind).chain(kinds).all(Type::is_text);
                self.text.push_str(if texts { "string" } else { "unknown" });
                return;
            }
            if separator == " | " && matches!(self.resolved(kind), Type::Union(_)) {
                self.nested(kind, indent, depth);
            } else {
                self.grouped(kind, indent, depth);
            }
            if kinds.peek().is_some() {
                self.text.push_str(separator);
            }
        }
    }

    /// Prints a type, in parentheses if it is composite.
    fn grouped(&mut self, kind: &Type, indent: usize, depth: usize) {
        let several = match self.resolved(kind) {
            Type::Union(_) | Type::Intersection(_) => true,
            Type::Object(shape) => shape.is_split(),
            _ => false,
        };
        if several && !self.is_full() {
            self.text.push('(');
            self.nested(kind, indent, depth);
            self.text.push(')');
        } else {
            self.nested(kind, indent, depth);
        }
    }

    fn tuple(&mut self, elements: &[Element], rest: Option<&Type>, indent: usize, depth: usize) {
        self.text.push('[');
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.grouped(&element.kind, indent, depth);
            if element.optional {
                self.text.push('?');
            }
        }
        if let Some(rest) = rest {
            self.text.push_str(if elements.is_empty() { "..." } else { ", ..." });
            self.grouped(rest, indent, depth);
            self.text.push_str("[]");
        }
        self.text.push(']');
    }

    fn object(&mut self, shape: &Shape, indent: usize, depth: usize) {
        if self.room == Room::Block {
            let mut short = Printer::new(self.types, self.prefix, Room::Short);
            short.object(shape, indent, depth);
            if !short.overflowed && short.text.len() <= LINE_CHARS {
                self.text.push_str(&short.text);
                return;
            }
        }
        self.text.push('{');
        let mut members: Vec<&Member> = shape.members.iter().collect();
        if self.room == Room::Signature {
            members.sort_by_key(|member| member.optional);
        }
        let mut left_out = shape.omitted;
        for (at, member) in members.iter().enumerate() {
            if self.is_full() {
                left_out += members.len() - at;
                break;
            }
            self.member(member, indent + 1, depth);
        }
        let split = shape.is_split();
        // A line that leaves out members anyway need not say that there may be others.
        let said = !split && (self.room != Room::Signature || shape.members.is_empty());
        if let Some(others) = shape.others.as_deref().filter(|_| said) {
            self.begin(indent + 1);
            self.text.push_str("[key: string]: ");
            self.nested(others, indent + 1, depth);
            self.text.push(';');
        }
        if left_out > 0 {
            self.begin(indent + 1);
            self.text.push_str(&format!("/* {left_out} more */"));
        }
        self.end(indent);
        if let Some(others) = shape.others.as_deref().filter(|_| split) {
            self.text.push_str(" & { [key: string]: ");
            self.nested(others, indent, depth);
            self.text.push_str(" }");
        }
    }

    fn member(&mut self, member: &Member, indent: usize, depth: usize) {
        let said = match &member.kind {
            Type::Named(name) if member.comment.is_empty() => {
                self.types.aliases.get(*name).filter(|alias| alias.inline).map_or("", |alias| &alias.comment)
            }
            _ => &member.comment,
        };
        if !said.is_empty() {
            match self.room {
                Room::Block => {
                    self.begin(indent);
                    self.text.push_str(&format!("/** {} */", comment(said)));
                }
                Room::Short => self.overflowed = true,
                Room::Signature => {}
            }
        }
        self.begin(indent);
        if is_identifier(&member.name) {
            self.text.push_str(&member.name);
        } else {
            self.text.push_str(&quoted(&member.name));
        }
        self.text.push_str(if member.optional { "?: " } else { ": " });
        self.nested(&member.kind, indent, depth);
        self.text.push(';');
    }

    /// Goes to where the next member begins.
    fn begin(&mut self, indent: usize) {
        if self.room == Room::Block {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(indent));
        } else {
            self.text.push(' ');
        }
    }

    /// Closes an object. On one line, the last member needs no semicolon.
    fn end(&mut self, indent: usize) {
        if self.room != Room::Block && self.text.ends_with(';') {
            self.text.pop();
        }
        self.begin(indent);
        self.text.push('}');
    }
}

impl Shape {
    /// Whether unnamed members need a type of their own. If they shared one type with the named
    /// ones, the named ones would have to fit their type too.
    pub(crate) fn is_split(&self) -> bool {
        !self.members.is_empty() && self.others.as_deref().is_some_and(|others| *others != Type::Unknown)
    }
}
