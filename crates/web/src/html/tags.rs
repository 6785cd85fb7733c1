//! Which elements and attributes the Markdown writer knows. All others are `Tag::Inline` and
//! dropped attributes: their text counts, they do not.

use html5ever::{LocalName, Namespace, local_name, ns};

/// What an element means to the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Nothing of its own: its content stands in the line.
    Inline,
    /// A box: its content stands on lines of its own.
    Block,
    /// Neither it nor its content is shown.
    Hidden,
    Paragraph,
    Heading(u8),
    Quote,
    List,
    OrderedList,
    Item,
    DefinitionList,
    Term,
    Definition,
    Preformatted,
    Code,
    Emphasis,
    Strong,
    Deleted,
    /// Kept as the HTML tag it is: Markdown has no sign for it.
    Kept(&'static str),
    Quotation,
    Link,
    Image,
    /// What a page embeds, shown as a link with this text.
    Embedded(&'static str),
    Source,
    LineBreak,
    Rule,
    Checkbox,
    Choice,
    /// A box within the line: between two of them there is space to see, though none to read.
    Control,
    Details,
    Summary,
    Table,
    TableGroup,
    TableHead,
    Row,
    HeaderCell,
    Cell,
    Caption,
    Base,
    Math,
}

impl Tag {
    pub(crate) fn of(ns: &Namespace, name: &LocalName) -> Tag {
        match *ns {
            ns!(html) => Tag::of_html(name),
            ns!(svg) if *name == local_name!("svg") => Tag::Hidden,
            ns!(mathml) => match *name {
                local_name!("math") => Tag::Math,
                local_name!("annotation") | local_name!("annotation-xml") => Tag::Hidden,
                _ => Tag::Inline,
            },
            _ => Tag::Inline,
        }
    }

    fn of_html(name: &LocalName) -> Tag {
        match *name {
            local_name!("datalist")
            | local_name!("head")
            | local_name!("nav")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript")
            | local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("title") => Tag::Hidden,
            local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("body")
            | local_name!("center")
            | local_name!("dialog")
            | local_name!("div")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("html")
            | local_name!("legend")
            | local_name!("main")
            | local_name!("optgroup")
            | local_name!("search")
            | local_name!("section") => Tag::Block,
            local_name!("p") => Tag::Paragraph,
            local_name!("h1") => Tag::Heading(1),
            local_name!("h2") => Tag::Heading(2),
            local_name!("h3") => Tag::Heading(3),
            local_name!("h4") => Tag::Heading(4),
            local_name!("h5") => Tag::Heading(5),
            local_name!("h6") => Tag::Heading(6),
            local_name!("blockquote") => Tag::Quote,
            local_name!("ul") | local_name!("menu") | local_name!("dir") => Tag::List,
            local_name!("ol") => Tag::OrderedList,
            local_name!("li") => Tag::Item,
            local_name!("dl") => Tag::DefinitionList,
            local_name!("dt") => Tag::Term,
            local_name!("dd") => Tag::Definition,
            local_name!("pre")
            | local_name!("listing")
            | local_name!("xmp")
            | local_name!("plaintext") => Tag::Preformatted,
            local_name!("code") | local_name!("tt") | local_name!("samp") => Tag::Code,
            local_name!("em") | local_name!("i") => Tag::Emphasis,
            local_name!("strong") | local_name!("b") => Tag::Strong,
            local_name!("del") | local_name!("s") | local_name!("strike") => Tag::Deleted,
            local_name!("sup") => Tag::Kept("sup"),
            local_name!("sub") => Tag::Kept("sub"),
            local_name!("kbd") => Tag::Kept("kbd"),
            local_name!("mark") => Tag::Kept("mark"),
            local_name!("ins") => Tag::Kept("ins"),
            local_name!("q") => Tag::Quotation,
            local_name!("a") => Tag::Link,
            local_name!("img") => Tag::Image,
            local_name!("iframe") => Tag::Embedded("iframe"),
            local_name!("frame") => Tag::Embedded("frame"),
            local_name!("video") => Tag::Embedded("video"),
            local_name!("audio") => Tag::Embedded("audio"),
            local_name!("embed") => Tag::Embedded("embed"),
            local_name!("object") => Tag::Embedded("object"),
            local_name!("source") => Tag::Source,
            local_name!("br") => Tag::LineBreak,
            local_name!("hr") => Tag::Rule,
            local_name!("input") => Tag::Checkbox,
            local_name!("option") => Tag::Choice,
            local_name!("button")
            | local_name!("label")
            | local_name!("meter")
            | local_name!("output")
            | local_name!("progress")
            | local_name!("select")
            | local_name!("textarea")
            | local_name!("time") => Tag::Control,
            local_name!("details") => Tag::Details,
            local_name!("summary") => Tag::Summary,
            local_name!("table") => Tag::Table,
            local_name!("thead") => Tag::TableHead,
            local_name!("tbody") | local_name!("tfoot") => Tag::TableGroup,
            local_name!("tr") => Tag::Row,
            local_name!("th") => Tag::HeaderCell,
            local_name!("td") => Tag::Cell,
            local_name!("caption") => Tag::Caption,
            local_name!("base") => Tag::Base,
            _ => Tag::Inline,
        }
    }

    /// Whether it breaks the line it stands in.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Block
                | Paragraph
                | Heading(_)
                | Quote
                | List
                | OrderedList
                | Item
                | DefinitionList
                | Term
                | Definition
                | Preformatted
                | Rule
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

/// The attributes that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttrName {
    Align,
    Alt,
    AltText,
    Checked,
    Class,
    Colspan,
    Hidden,
    Href,
    Language,
    /// The address of what is loaded late, by one of the names that scripts use.
    LateSrc,
    Role,
    Rowspan,
    Src,
    Srcset,
    Start,
    Style,
    Title,
    Type,
    Value,
}

impl AttrName {
    /// Which attribute it is, if one that `tag` has a use for.
    pub(crate) fn of(tag: Tag, name: &LocalName) -> Option<AttrName> {
        let (attr, used) = match *name {
            local_name!("hidden") => (AttrName::Hidden, true),
            local_name!("style") => (AttrName::Style, true),
            local_name!("class") => {
                (AttrName::Class, matches!(tag, Tag::Block | Tag::Preformatted | Tag::Code))
            }
            local_name!("lang") => (AttrName::Language, tag == Tag::Preformatted),
            local_name!("href") => (AttrName::Href, matches!(tag, Tag::Link | Tag::Base)),
            local_name!("src") => {
                (AttrName::Src, matches!(tag, Tag::Image | Tag::Embedded(_) | Tag::Source))
            }
            local_name!("alt") => (AttrName::Alt, tag == Tag::Image),
            local_name!("title") => {
                (AttrName::Title, matches!(tag, Tag::Link | Tag::Image | Tag::Embedded(_)))
            }
            local_name!("start") => (AttrName::Start, tag == Tag::OrderedList),
            local_name!("value") => (AttrName::Value, tag == Tag::Item),
            local_name!("type") => (AttrName::Type, tag == Tag::Checkbox),
            local_name!("checked") => (AttrName::Checked, tag == Tag::Checkbox),
            local_name!("align") => (AttrName::Align, matches!(tag, Tag::HeaderCell | Tag::Cell)),
            local_name!("colspan") => {
                (AttrName::Colspan, matches!(tag, Tag::HeaderCell | Tag::Cell))
            }
            local_name!("rowspan") => {
                (AttrName::Rowspan, matches!(tag, Tag::HeaderCell | Tag::Cell))
            }
            local_name!("role") => (AttrName::Role, tag == Tag::Table),
            local_name!("alttext") => (AttrName::AltText, tag == Tag::Math),
            local_name!("srcset") => (AttrName::Srcset, tag == Tag::Image),
            local_name!("data") => (AttrName::Src, tag == Tag::Embedded("object")),
            _ => match (tag, &**name) {
                (Tag::Image | Tag::Embedded(_), "data-src" | "data-lazy-src" | "data-original") => {
                    (AttrName::LateSrc, true)
                }
                (Tag::Image, "data-srcset") => (AttrName::Srcset, true),
                (Tag::Block | Tag::Preformatted | Tag::Code, "data-lang" | "data-language") => {
                    (AttrName::Language, true)
                }
                _ => return None,
            },
        };
        used.then_some(attr)
    }
}
