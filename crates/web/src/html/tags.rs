//! The elements and attributes that the Markdown writer uses.
//!
//! Every element is mapped to one [`HtmlTag`] when the tree is built, and its name is forgotten
//! then: the writer matches on a small enum instead of comparing strings. Elements that are not
//! listed become [`HtmlTag::Inline`], so their text is shown and they themselves are not.
//! Attributes that are not listed are dropped, which keeps the tree of a page with long `class` or
//! `data-` attributes small.

use html5ever::{LocalName, Namespace, local_name, ns};

/// Matches any of the given names. `local_name!` resolves its strings at compile time, so a
/// comparison is one of integers. Written with braces, because rustfmt then leaves the list on few
/// lines.
macro_rules! any_of {
    ($($name:tt)|+) => { $(local_name!($name))|+ };
}
pub(super) use any_of;

/// What an element means to the Markdown writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlTag {
    /// Has no syntax of its own: its content continues the line. Also every unknown element.
    Inline,
    /// A box such as `<div>`: its content stands on lines of its own.
    Block,
    /// Neither the element nor its content is shown.
    Hidden,
    /// `<html>`, for its language.
    Html,
    /// `<title>`: not shown, part of the metadata.
    Title,
    /// `<meta>`: metadata, or a redirect.
    Meta,
    /// `<link>`: the canonical address.
    LinkRelation,
    /// `<script>` with code: not shown.
    Script,
    /// `<script>` with structured data: not shown, part of the metadata.
    JsonLd,
    /// `<noscript>`: shown only if the page has nothing else (`parse` then reads its content).
    Noscript,
    /// MathML's `<annotation>`: the formula once more. Shown instead of the formula if it is TeX.
    Annotation,
    /// `<p>`. Inside a list item it also makes the list loose.
    Paragraph,
    /// `<h1>` to `<h6>`, with the number: that many `#`.
    Heading(u8),
    /// `<blockquote>`: lines that begin with `>`.
    Quote,
    /// A list without numbers.
    List,
    /// `<ol>`: a list whose items have numbers.
    OrderedList,
    /// `<li>`.
    ListItem,
    /// `<dl>`, written as a list: Markdown has no definition lists.
    DefinitionList,
    /// `<dt>`, written as a bold paragraph.
    Term,
    /// `<dd>`, written as a list item.
    Definition,
    /// `<pre>` and its predecessors: a fenced code block.
    Preformatted,
    /// Code within a line, between backticks.
    Code,
    /// `*text*`.
    Emphasis,
    /// `**text**`.
    Strong,
    /// `~~text~~`, a GFM extension.
    Deleted,
    /// Copied to the output as the HTML element of this name: Markdown has no syntax for it.
    RawHtml(&'static str),
    /// `<q>`: text between quotation marks.
    InlineQuote,
    /// `<a>`.
    Link,
    /// `<img>`.
    Image,
    /// Something that a page embeds, such as a video: a link with the element's name as text.
    Embed(&'static str),
    /// `<source>`, which gives the address of the media element around it.
    MediaSource,
    /// `<br>`.
    LineBreak,
    /// `<hr>`.
    ThematicBreak,
    /// `<input>`. Only check boxes are shown, as the box of a task list item.
    Input,
    /// `<option>`: a word among others, with space on both sides.
    SelectOption,
    /// A box within the line, such as a button. Pages often have no white space between two of
    /// them, because a browser draws a border; the Markdown needs a space there.
    Control,
    /// `<details>`, copied as HTML around Markdown.
    Details,
    /// `<summary>`.
    Summary,
    /// `<table>`.
    Table,
    /// `<tbody>` or `<tfoot>`.
    TableGroup,
    /// `<thead>`.
    TableHead,
    /// `<tr>`.
    Row,
    /// `<th>`.
    HeaderCell,
    /// `<td>`.
    Cell,
    /// `<caption>`: a paragraph before its table.
    Caption,
    /// `<base>`, which changes what relative addresses are relative to.
    Base,
    /// MathML's `<math>`: its `alttext` if it has one, else the text of its parts.
    Math,
}

impl HtmlTag {
    /// Maps the name of an element, given with its namespace, to what it means.
    pub(crate) fn of(ns: &Namespace, name: &LocalName) -> HtmlTag {
        match *ns {
            ns!(html) => HtmlTag::of_html(name),
            // The text in a drawing is labels, which mean little without the drawing.
            ns!(svg) if *name == local_name!("svg") => HtmlTag::Hidden,
            ns!(mathml) => match *name {
                local_name!("math") => HtmlTag::Math,
                local_name!("annotation") => HtmlTag::Annotation,
                // The same formula once more, in another dialect of MathML.
                local_name!("annotation-xml") => HtmlTag::Hidden,
                _ => HtmlTag::Inline,
            },
            _ => HtmlTag::Inline,
        }
    }

    fn of_html(name: &LocalName) -> HtmlTag {
        match *name {
            // `nav` is required by the tool's specification; the others are not drawn by browsers
            // either, or are drawn only by browsers without scripts or frames.
            any_of! {
                "datalist" | "head" | "nav" | "noembed" | "noframes" | "style" | "template"
            } => HtmlTag::Hidden,
            local_name!("html") => HtmlTag::Html,
            local_name!("title") => HtmlTag::Title,
            local_name!("meta") => HtmlTag::Meta,
            local_name!("link") => HtmlTag::LinkRelation,
            local_name!("script") => HtmlTag::Script,
            local_name!("noscript") => HtmlTag::Noscript,
            any_of! {
                "address" | "article" | "aside" | "body" | "center" | "dialog" | "div" | "fieldset"
                    | "figcaption" | "figure" | "footer" | "form" | "header" | "hgroup" | "legend"
                    | "main" | "optgroup" | "search" | "section"
            } => HtmlTag::Block,
            local_name!("p") => HtmlTag::Paragraph,
            local_name!("h1") => HtmlTag::Heading(1),
            local_name!("h2") => HtmlTag::Heading(2),
            local_name!("h3") => HtmlTag::Heading(3),
            local_name!("h4") => HtmlTag::Heading(4),
            local_name!("h5") => HtmlTag::Heading(5),
            local_name!("h6") => HtmlTag::Heading(6),
            local_name!("blockquote") => HtmlTag::Quote,
            any_of! { "ul" | "menu" | "dir" } => HtmlTag::List,
            local_name!("ol") => HtmlTag::OrderedList,
            local_name!("li") => HtmlTag::ListItem,
            local_name!("dl") => HtmlTag::DefinitionList,
            local_name!("dt") => HtmlTag::Term,
            local_name!("dd") => HtmlTag::Definition,
            any_of! { "pre" | "listing" | "xmp" | "plaintext" } => HtmlTag::Preformatted,
            any_of! { "code" | "tt" | "samp" } => HtmlTag::Code,
            any_of! { "em" | "i" } => HtmlTag::Emphasis,
            any_of! { "strong" | "b" } => HtmlTag::Strong,
            any_of! { "del" | "s" | "strike" } => HtmlTag::Deleted,
            local_name!("sup") => HtmlTag::RawHtml("sup"),
            local_name!("sub") => HtmlTag::RawHtml("sub"),
            local_name!("kbd") => HtmlTag::RawHtml("kbd"),
            local_name!("mark") => HtmlTag::RawHtml("mark"),
            local_name!("ins") => HtmlTag::RawHtml("ins"),
            local_name!("q") => HtmlTag::InlineQuote,
            local_name!("a") => HtmlTag::Link,
            local_name!("img") => HtmlTag::Image,
            local_name!("iframe") => HtmlTag::Embed("iframe"),
            local_name!("frame") => HtmlTag::Embed("frame"),
            local_name!("video") => HtmlTag::Embed("video"),
            local_name!("audio") => HtmlTag::Embed("audio"),
            local_name!("embed") => HtmlTag::Embed("embed"),
            local_name!("object") => HtmlTag::Embed("object"),
            local_name!("source") => HtmlTag::MediaSource,
            local_name!("br") => HtmlTag::LineBreak,
            local_name!("hr") => HtmlTag::ThematicBreak,
            local_name!("input") => HtmlTag::Input,
            local_name!("option") => HtmlTag::SelectOption,
            any_of! {
                "button" | "label" | "meter" | "output" | "progress" | "select" | "textarea"
                    | "time"
            } => HtmlTag::Control,
            local_name!("details") => HtmlTag::Details,
            local_name!("summary") => HtmlTag::Summary,
            local_name!("table") => HtmlTag::Table,
            local_name!("thead") => HtmlTag::TableHead,
            any_of! { "tbody" | "tfoot" } => HtmlTag::TableGroup,
            local_name!("tr") => HtmlTag::Row,
            local_name!("th") => HtmlTag::HeaderCell,
            local_name!("td") => HtmlTag::Cell,
            local_name!("caption") => HtmlTag::Caption,
            local_name!("base") => HtmlTag::Base,
            _ => HtmlTag::Inline,
        }
    }

    /// Whether the element is never shown, with all below it.
    pub(crate) fn is_hidden(self) -> bool {
        use HtmlTag::{Annotation, Hidden, JsonLd, Noscript, Script, Title};
        matches!(self, Hidden | Title | Script | JsonLd | Noscript | Annotation)
    }

    /// Whether the element ends the line before it and begins a new one after it.
    pub(crate) fn is_block(self) -> bool {
        use HtmlTag::*;
        matches!(
            self,
            Block
                | Html
                | Paragraph
                | Heading(_)
                | Quote
                | List
                | OrderedList
                | ListItem
                | DefinitionList
                | Term
                | Definition
                | Preformatted
                | ThematicBreak
                | Details
                | Summary
                | Table
                | TableGroup
                | TableHead
                | Row
                | HeaderCell
                | Cell
                | Caption
        )
    }
}

/// The attributes that the tree keeps. Different spellings of one meaning share a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeName {
    /// The alignment of a cell, from before style sheets.
    Align,
    /// The text that stands for an image.
    Alt,
    /// `alttext` of MathML: the formula as text, usually TeX.
    AltText,
    /// Whether a check box is checked; the value does not matter.
    Checked,
    /// Searched for the language of code, on code and on the elements around it.
    Class,
    /// How many columns a cell covers.
    Colspan,
    /// The value of a `<meta>`.
    Content,
    /// When something was published, on `<time>`.
    Datetime,
    /// The encoding of a formula's annotation.
    Encoding,
    /// Hides the element, unless the value is `until-found`.
    Hidden,
    /// The destination of a link, or the base of all addresses.
    Href,
    /// The HTTP header that a `<meta>` stands for.
    HttpEquiv,
    /// The language of code, by `lang` or by one of the `data-` attributes of highlighters.
    Language,
    /// The address of an image that a script loads when the reader scrolls to it, by one of the
    /// names that such scripts use. `src` is then a placeholder.
    LazySrc,
    /// The name of a `<meta>`: `name`, `property` or `itemprop`.
    MetaName,
    /// What a `<link>` points to.
    Rel,
    /// The ARIA role of a table; `presentation` marks one that only arranges a page.
    Role,
    /// How many rows a cell covers.
    Rowspan,
    /// `src`, and `data` of `<object>`.
    Src,
    /// The document of an `<iframe>`, as HTML.
    Srcdoc,
    /// Addresses of an image in several sizes.
    Srcset,
    /// The first number of an ordered list.
    Start,
    /// Searched for `display` and `text-align`.
    Style,
    /// The text that browsers show when the pointer rests on a link or an image.
    Title,
    /// The kind of an `<input>`.
    Type,
    /// The number of a list item.
    Value,
}

impl AttributeName {
    /// Whether the value is an address, or a list of them.
    pub(super) fn is_address(self) -> bool {
        use AttributeName::{Href, LazySrc, Src, Srcset};
        matches!(self, Href | LazySrc | Src | Srcset)
    }

    /// Maps the name of an attribute; `None` if the writer has no use for it on this element.
    pub(crate) fn of(tag: HtmlTag, name: &LocalName) -> Option<AttributeName> {
        use HtmlTag::{
            Block, Cell, Code, Embed, HeaderCell, Image, Link, MediaSource, Preformatted,
        };
        let is_code = matches!(tag, Block | Preformatted | Code);
        let is_cell = matches!(tag, HeaderCell | Cell);
        let (attr, is_used) = match *name {
            // Any element can be hidden, so these two are kept everywhere.
            local_name!("hidden") => (AttributeName::Hidden, true),
            local_name!("style") => (AttributeName::Style, true),
            local_name!("class") => (AttributeName::Class, is_code),
            local_name!("lang") => {
                (AttributeName::Language, matches!(tag, Preformatted | HtmlTag::Html))
            }
            local_name!("href") => {
                (AttributeName::Href, matches!(tag, Link | HtmlTag::Base | HtmlTag::LinkRelation))
            }
            local_name!("name") | local_name!("property") | local_name!("itemprop")
                if tag == HtmlTag::Meta =>
            {
                (AttributeName::MetaName, true)
            }
            local_name!("content") => (AttributeName::Content, tag == HtmlTag::Meta),
            local_name!("http-equiv") => (AttributeName::HttpEquiv, tag == HtmlTag::Meta),
            local_name!("rel") => (AttributeName::Rel, tag == HtmlTag::LinkRelation),
            local_name!("datetime") => (AttributeName::Datetime, tag == HtmlTag::Control),
            local_name!("encoding") => (AttributeName::Encoding, tag == HtmlTag::Annotation),
            local_name!("srcdoc") => (AttributeName::Srcdoc, tag == Embed("iframe")),
            local_name!("src") => {
                (AttributeName::Src, matches!(tag, Image | Embed(_) | MediaSource))
            }
            local_name!("alt") => (AttributeName::Alt, tag == Image),
            local_name!("title") => (AttributeName::Title, matches!(tag, Link | Image | Embed(_))),
            local_name!("start") => (AttributeName::Start, tag == HtmlTag::OrderedList),
            local_name!("value") => (AttributeName::Value, tag == HtmlTag::ListItem),
            local_name!("type") => (AttributeName::Type, tag == HtmlTag::Input),
            local_name!("checked") => (AttributeName::Checked, tag == HtmlTag::Input),
            local_name!("align") => (AttributeName::Align, is_cell),
            local_name!("colspan") => (AttributeName::Colspan, is_cell),
            local_name!("rowspan") => (AttributeName::Rowspan, is_cell),
            local_name!("role") => (AttributeName::Role, tag == HtmlTag::Table),
            local_name!("alttext") => (AttributeName::AltText, tag == HtmlTag::Math),
            local_name!("srcset") => (AttributeName::Srcset, tag == Image),
            local_name!("data") => (AttributeName::Src, tag == Embed("object")),
            // Names that html5ever has no atoms for are compared as strings, after all others.
            _ => match (tag, &**name) {
                (Image | Embed(_), "data-src" | "data-lazy-src" | "data-original") => {
                    (AttributeName::LazySrc, true)
                }
                (Image, "data-srcset") => (AttributeName::Srcset, true),
                (_, "data-lang" | "data-language") => (AttributeName::Language, is_code),
                _ => return None,
            },
        };
        is_used.then_some(attr)
    }
}
