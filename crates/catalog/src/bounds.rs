//! Every bound of this crate, in one place, each with its reason.
//!
//! Child servers write what is read here, so neither work nor text nor recursion may grow with it
//! without bound.

/// Tools of one server that get a name. The excess is recorded as a fault. The largest servers
/// known have some hundreds.
pub(crate) const TOOLS_PER_SERVER: usize = 20_000;

/// Characters of a summary, which is one line beside a signature.
pub(crate) const SUMMARY_CHARS: usize = 160;
/// Characters of a tool's description that a declaration repeats. The longest in real lists have
/// some 1,500.
pub(crate) const DESCRIPTION_CHARS: usize = 2_000;
/// Lines of a tool's description that a declaration repeats.
pub(crate) const DESCRIPTION_LINES: usize = 40;
/// Characters of the comment on one member of an object.
pub(crate) const MEMBER_COMMENT_CHARS: usize = 400;
/// Characters of one constraint in a comment: a pattern, a default, an example.
pub(crate) const CONSTRAINT_CHARS: usize = 80;
/// Characters of an unavailable server's reason, and of its hint.
pub(crate) const REASON_CHARS: usize = 240;
/// Folders of one server that are listed.
pub(crate) const FOLDERS_SHOWN: usize = 5;
/// Characters of such a folder, or of a server's start argument.
pub(crate) const FOLDER_CHARS: usize = 160;
/// Characters of a name, of a server or a tool, in a note.
pub(crate) const SHOWN_NAME_CHARS: usize = 80;

/// Nesting depth of schemas that are read; anything deeper is `unknown`. Real ones nest less than
/// ten levels. It also bounds recursion.
pub(crate) const SCHEMA_DEPTH: usize = 24;
/// Schemas read for one tool; the rest is `unknown`. The largest real tool has some 300.
pub(crate) const SCHEMA_NODES: usize = 2_000;
/// Different `$ref` targets read for one tool; the rest is `unknown`.
pub(crate) const ALIASES: usize = 64;
/// Nesting depth of `$ref` targets that are printed in place of their name. It bounds the printer's
/// recursion.
pub(crate) const INLINE_CHAIN: usize = 3;
/// Values searched for one `$anchor` or `$id`.
pub(crate) const ANCHOR_SEARCH: usize = 2_000;
/// Literals in one union; a longer enumeration becomes the type of its values, and the comment
/// names some of them.
pub(crate) const UNION_LITERALS: usize = 64;
/// Schemas in one `anyOf`, `oneOf`, `allOf` or tuple.
pub(crate) const PARTS: usize = 32;
/// The product of the members of the unions in one intersection: a compiler expands it, and gives
/// up at 100,000.
pub(crate) const UNION_PRODUCT: usize = 1_000;
/// Bytes of a member's name; a member with a longer one is counted and not shown.
pub(crate) const MEMBER_NAME_BYTES: usize = 256;
/// Bytes of a literal; a longer one becomes the type of its value.
pub(crate) const LITERAL_BYTES: usize = 200;
/// Bytes of a type in a full declaration, some 6,000 tokens, and of all its named types together.
/// After that, types are `unknown` and members are counted.
pub(crate) const DECLARATION_BYTES: usize = 24 * 1024;
/// Bytes of the arguments, and again of the result, in a one-line signature.
pub(crate) const SIGNATURE_BYTES: usize = 240;
/// Nesting depth of objects and arrays in a one-line signature.
pub(crate) const SIGNATURE_DEPTH: usize = 5;
/// Characters of an object type that is printed on one line.
pub(crate) const LINE_CHARS: usize = 80;

/// Bytes of an example call; a longer one says no more than the declaration.
pub(crate) const EXAMPLE_BYTES: usize = 300;
/// Nesting depth of objects, arrays and named types in an example call.
pub(crate) const EXAMPLE_DEPTH: usize = 8;

/// Levels of a result's shape that are kept.
pub(crate) const OBSERVED_DEPTH: usize = 8;
/// Named members of an object; an object with more is a map.
pub(crate) const OBSERVED_MEMBERS: usize = 40;
/// Optional members of an object; an object with more is a map.
pub(crate) const OBSERVED_OPTIONAL: usize = 16;
/// Elements of an array, and members of a map, that are examined.
pub(crate) const OBSERVED_ELEMENTS: usize = 200;
/// Places in the shape of one tool's results; the deepest are forgotten first.
pub(crate) const OBSERVED_NODES: usize = 400;
/// Bytes of a member's name that a programmer may have chosen.
pub(crate) const OBSERVED_NAME_BYTES: usize = 40;

/// Words indexed of one field of a tool.
pub(crate) const WORDS_PER_FIELD: usize = 400;
/// Bytes of one field of a tool that are examined.
pub(crate) const FIELD_BYTES: usize = 4_096;
/// Parameters of a tool that are indexed.
pub(crate) const INDEXED_PARAMETERS: usize = 100;
/// Levels of nested parameters that are indexed.
pub(crate) const INDEXED_DEPTH: usize = 3;
/// Characters of one word; the rest is cut off.
pub(crate) const WORD_CHARS: usize = 40;
/// Characters of a query that are read.
pub(crate) const QUERY_CHARS: usize = 1_000;
/// Words of a query that are looked up.
pub(crate) const QUERY_WORDS: usize = 64;
/// Unknown words of a query that are compared with the vocabulary.
pub(crate) const CORRECTED_WORDS: usize = 8;
/// Words of the vocabulary that replace one unknown word.
pub(crate) const CORRECTIONS: usize = 4;

/// Bytes of a text that is compared with every tool's name; a longer one is not a typing error.
pub(crate) const NEAREST_BYTES: usize = 100;

/// Results of a search for words, if no limit is given. The right tool is among the first ten for
/// all but one question in fifty.
pub(crate) const DEFAULT_RESULTS: usize = 10;
/// The most results, whatever limit is given.
pub(crate) const MOST_RESULTS: usize = 1_000;
/// Tokens of an answer, if no budget is given.
pub(crate) const DEFAULT_BUDGET: usize = 2_000;
/// The largest budget in tokens, whatever is given.
pub(crate) const LARGEST_BUDGET: usize = 200_000;
/// Wishes in one question that are searched for separately.
pub(crate) const WISHES: usize = 4;
/// Tools of an answer that are shown with more than the signature, if there is room.
pub(crate) const DETAILED: usize = 5;
/// Characters of the description there.
pub(crate) const DETAIL_CHARS: usize = 280;
/// Characters of the line on all arguments, and of the text on one.
pub(crate) const ARGUMENTS_CHARS: usize = 420;
pub(crate) const ARGUMENT_CHARS: usize = 130;
/// Unavailable servers that are named in a text; the rest are counted.
pub(crate) const UNAVAILABLE_SHOWN: usize = 8;
/// Servers named in the note on an unknown server.
pub(crate) const SERVERS_SHOWN: usize = 12;

/// Characters of a name in WIT, without a number that makes it unique. Some binders turn names into
/// file names.
pub(crate) const WIT_NAME_CHARS: usize = 64;
/// Characters that distinguish a type of a tool from its others, after the tool's name.
pub(crate) const WIT_HINT_CHARS: usize = 40;
/// Nesting depth of types in WIT; anything deeper is JSON text. Readers of WIT accept 100 at most,
/// and binders recurse.
pub(crate) const WIT_HEIGHT: usize = 32;
/// The size of one type in WIT, counting each type in it as often as it occurs; a larger type is
/// JSON text. WIT's binary form counts like this, and allows a million for all types of a package
/// together.
pub(crate) const WIT_TYPE_SIZE: usize = 4_000;
/// The sizes of all types of one package; the remaining tools are passed as JSON text. With as many
/// functions as a server may have tools, the binary form takes some 80,000. The largest of ten real
/// lists has 333.
pub(crate) const WIT_PACKAGE_SIZE: usize = 50_000;
/// Bytes of the comments in one interface; after that, a function's comment only says which tool it
/// calls.
pub(crate) const WIT_DOCS_BYTES: usize = 1024 * 1024;
/// Values of an enumeration without WIT names that a comment lists.
pub(crate) const WIT_VALUES_SHOWN: usize = 12;
