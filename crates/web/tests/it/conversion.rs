//! HTML and the Markdown it becomes: a table with a row for each thing that HTML has and that
//! cannot come from a Markdown document. (Those that can are in `roundtrip`.)

use toolwright_web::{MarkdownOptions, markdown};
use url::Url;

fn convert(html: &str) -> String {
    let base = Url::parse("https://example.com/a/b.html?q=1#f").expect("a URL");
    markdown(html, Some(&base), &MarkdownOptions::default()).expect("the page is within the limits")
}

#[test]
fn html_becomes_the_expected_markdown() {
    let mut failures = Vec::new();
    for (html, expected) in [
        // Hidden content.
        (
            "<head><title>t</title></head><nav>n</nav><script>s</script><style>s</style><template>t</template>x",
            "x",
        ),
        (
            "<noscript>n</noscript><svg><text>s</text></svg><p hidden>h</p><p style='Display : none'>d</p>x",
            "x",
        ),
        (
            "<p hidden=until-found>kept</p><header>h</header><footer>f</footer><aside>a</aside>",
            "kept\n\nh\n\nf\n\na",
        ),
        ("<!-- c --><?pi?><p>&nbsp;</p><div> </div>", ""),
        (
            "<noembed>e</noembed><noframes>f</noframes><datalist><option>d</datalist><title>t</title>x",
            "x",
        ),
        (
            "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation>tex</annotation></semantics></math>\
             </span><span class=katex-html aria-hidden=true><span>x</span></span></span> <span>seen</span><span aria-hidden=true>★</span>",
            "x seen",
        ),
        // White space.
        ("<p>  a \n\t b  <b> c </b> d</p>", "a b **c** d"),
        ("a<span> </span>b<i> </i>c", "a b c"),
        ("<p>a<p>b<div>c<div>d</div>e</div>", "a\n\nb\n\nc\n\nd\n\ne"),
        // Addresses.
        (
            "<a href=c.html>x</a> <a href=/c>x</a> <a href='#s'>x</a>",
            "[x](https://example.com/a/c.html) [x](https://example.com/c) [x](https://example.com/a/b.html?q=1#s)",
        ),
        (
            "<base href=/base/><a href=c>x</a><img src=d.png alt=i>",
            "[x](https://example.com/base/c)![i](https://example.com/base/d.png)",
        ),
        ("<a href='javascript:x()'>a</a> <a>b</a> <a href=x></a><a name=n></a>", "a b"),
        ("<a href='?a=b c'>x</a>", "[x](https://example.com/a/b.html?a=b%20c)"),
        (
            "<img src='data:image/png;base64,xx' alt=text> <img data-src=late.png src='data:image/gif,x'>",
            "text ![](https://example.com/a/late.png)",
        ),
        (
            "<a href=x><h3>Card</h3><p>text</p></a>",
            "### [Card](https://example.com/a/x)\n\n[text](https://example.com/a/x)",
        ),
        // Formatting where delimiters do not work.
        ("<i> *\n</i> a * b", "*\\** a * b"),
        ("<del><i>.</i><del>a</del></del>", "~~<em>.</em>a~~"),
        ("<b>Note:</b>text", "<strong>Note:</strong>text"),
        ("a<i>b</i>c <i>d</i><i>e</i>", "a*b*c *d*_e_"),
        ("<b><p>one</p><p>two</p></b>", "**one**\n\n**two**"),
        ("<b>a<br></b>b", "**a**\\\nb"),
        ("<a href=u><i>x</i><i><br></i></a>y", "[*x*](https://example.com/a/u)\\\ny"),
        ("<b><b>x</b></b>", "**__x__**"),
        ("<em></em><b> </b>x", "x"),
        ("<del>a</del><del>b</del>", "~~a~~<del>b</del>"),
        ("x<sup>2</sup> H<sub>2</sub>O", "x<sup>2</sup> H<sub>2</sub>O"),
        ("<q>said</q>", "\"said\""),
        ("<p><i>&nbsp; * required field</i></p>", "\u{a0} *\\* required field*"),
        ("<p><b>x * &nbsp;</b>y</p>", "**x \\*** \u{a0}y"),
        ("<h2>#&nbsp;</h2><h2>a #</h2>", "## \\#\n\n## a \\#"),
        // Controls, which need a space between them.
        (
            "<button>a</button><button>b</button><time>c</time><span>d</span> (<time>e</time>)",
            "a b c d (e)",
        ),
        (
            "<label>Size</label><select><option>S<option>M</select><button>Go</button>",
            "Size S M Go",
        ),
        // Code.
        (
            "<code>a`b</code> <tt>c</tt> <code><b>d</b> <a href=x>e</a></code>",
            "``a`b`` `c` `d `[`e`](https://example.com/a/x)",
        ),
        ("<pre>\n a\n  b\n</pre>", "```\n a\n  b\n```"),
        (
            "<pre class='language-rust'><code><span>fn</span> x()<br>y</code></pre>",
            "```rust\nfn x()\ny\n```",
        ),
        (
            "<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>",
            "```python\nx\n```",
        ),
        ("<pre><div>a</div><div></div><div>b</div></pre>", "```\na\n\nb\n```"),
        ("<pre><div>a\n</div>\n<div>b</div>\nc</pre>", "```\na\nb\nc\n```"),
        (
            "<pre><ol class=linenums>\n <li>a<li><li><span>  b</span></ol></pre>",
            "```\na\n\n  b\n```",
        ),
        (
            "<pre><code><span style='display:block'>a</span><span style='display: block'></span><span style='display:block'>b</span></code></pre>",
            "```\na\n\nb\n```",
        ),
        ("<pre>a<span hidden>no</span><span style='display:none'>no</span>b</pre>", "```\nab\n```"),
        ("<pre class='brush: js; toolbar: false'>x</pre>", "```js\nx\n```"),
        ("<pre class='brush:php'>x</pre>", "```php\nx\n```"),
        ("<pre><code class='hljs javascript'>x</code></pre>", "```javascript\nx\n```"),
        (
            "<div class=sourceCode><pre class='sourceCode haskell'>x</pre></div>",
            "```haskell\nx\n```",
        ),
        ("<pre><code data-lang=go>x</code></pre>", "```go\nx\n```"),
        ("<div data-language=css><pre>x</pre></div>", "```css\nx\n```"),
        (
            "<figure class='highlight ruby'><table><tr><td class=code><pre>x</pre></table></figure>",
            "```ruby\nx\n```",
        ),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "```shell\nx\n```"),
        ("<div class='highlight notranslate'><pre class=code>x</pre></div>", "```\nx\n```"),
        ("<body class='home page'><pre class=hljs>x</pre>", "```\nx\n```"),
        ("<pre lang=c>x</pre><pre>```</pre>", "```c\nx\n```\n\n````\n```\n````"),
        ("<ol><li><p>a <code>b</p></li><li><p>c</p></li></ol><p>d", "1. a `b`\n\n2. `c`\n\n`d`"),
        // Line breaks.
        ("a<br>b<br><br>c<br>", "a\\\nb\n\nc"),
        ("<h2>a<br>b</h2><h3><div>c</div><div>d</div></h3>", "## a<br>b\n\n### c d"),
        // Lists.
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>a<li>b</ol><ol><li value=9>c</ol>", "3. a\n4. b\n\n9) c"),
        ("<ol start=-5><li>a</ol><ol start=99999999999><li>b</ol>", "1. a\n\n1) b"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c"),
        ("<ol><li>a</li>stray<li>b</li></ol>", "1. a\n\nstray\n\n2. b"),
        ("<li>alone</li><li>again</li><p>x</p><li>a", "- alone\n- again\n\nx\n\n- a"),
        ("<dt>T</dt><dd>one</dd><dd>two</dd>", "**T**\n\n- one\n- two"),
        ("<ol><li>a<li value=5>b<li>c<li value=7>d</ol>", "1. a\n\n5) b\n6) c\n7) d"),
        ("<ol start=3.7><li>a<li value=x>b</ol>", "3. a\n4. b"),
        ("<ol><li hidden value=4>no<li>a</ol>", "1. a"),
        (
            "<ul><li><details><summary>Out</summary><pre>a *b*</pre></details><pre>c</pre></li></ul>",
            "- <details>\n  <summary>Out</summary>\n\n  ```\n  a *b*\n  ```\n\n  </details>\n\n  ```\n  c\n  ```",
        ),
        (
            "<ul><li><details><ul><li>a</ul></details><h3>b</h3></ul>",
            "- <details>\n\n  - a\n\n  </details>\n\n  ### b",
        ),
        (
            "<ul><li><input type=checkbox> a<li><input type=checkbox checked>b<li>c</ul>",
            "- [ ] a\n- [x] b\n- c",
        ),
        ("<ul><li><label><input type=checkbox checked> a</label></ul>", "- [x] a"),
        (
            "<dl><dt>Term</dt><dd>one</dd><dd>two</dd><dt><code>b</code></dt><dd><p>three</p></dd></dl>",
            "**Term**\n\n- one\n\n- two\n\n**`b`**\n\n- three",
        ),
        // Tables.
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<table><caption>C</caption><tr><td>a|b<td><ul><li>x<li>y</ul></table>",
            "C\n\n|  |  |\n| --- | --- |\n| a\\|b | x<br>y |",
        ),
        (
            "<table><tr><td>1<td>2<tr><td>3<td>4</table>",
            "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
        ),
        (
            "<table><tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |",
        ),
        ("<table><tr><td><h2>left</h2><td><p>right</table>", "## left\n\nright"),
        ("<table role=presentation><tr><th>a<th>b</table>", "a\n\nb"),
        ("<table><tr><td>only<tr><td>column</table>", "only\n\ncolumn"),
        ("<table><tr><td><table><tr><th>in<th>ner</table></table>", "| in | ner |\n| --- | --- |"),
        (
            "<table><tr><th>a<th>b<tr><td><pre>x\ny|z</pre><td><table><tr><td>n</table></table>",
            "| a | b |\n| --- | --- |\n| `x`<br>`y\\|z` | n |",
        ),
        ("<table></table><table><tr></table>x", "x"),
        (
            "<table><caption hidden>no</caption><caption>C</caption><caption>D</caption><tr><th>a<th hidden>no<th>b\
             <tr hidden><td>no<td>no<tbody style='display:none'><tr><td>no<tbody><tr><td style='display: none'>no<td>1<td>2</table>",
            "C\n\nD\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><pre>if x:\n\n    y\n</pre><td><pre>\tz</pre></table>",
            "| a | b |\n| --- | --- |\n| `if x:`<br><br>`    y` | `\tz` |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><code>a\\|b</code><td>c\\|d</table>",
            "| a | b |\n| --- | --- |\n| <code>a\\\\&#124;b</code> | c\\\\&#124;d |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><a href=x><code><b><pre>c\nd</pre></b></code> e</a><td>f</table>",
            "| a | b |\n| --- | --- |\n| [`c` `d` e](https://example.com/a/x) | f |",
        ),
        // Quotes, details, figures.
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        (
            "<details><summary>More <b>&amp;</b></summary><p>text</details>",
            "<details>\n<summary>More &amp;</summary>\n\ntext\n\n</details>",
        ),
        (
            "<summary>alone</summary><details>a<summary>b</summary><summary>c</summary></details>",
            "alone\n\n<details>\n<summary>b</summary>\n\na\n\nc\n\n</details>",
        ),
        (
            "<details><summary hidden>no</summary><summary><h3>Part <a href=x>one</a></h3></summary><p>text</details>",
            "<details>\n<summary>\n\n### Part [one](https://example.com/a/x)\n\n</summary>\n\ntext\n\n</details>",
        ),
        (
            "<details><summary><img src=i.png alt=i> more</summary>x</details>",
            "<details>\n<summary>\n\n![i](https://example.com/a/i.png) more\n\n</summary>\n\nx\n\n</details>",
        ),
        ("<body style='display:none' hidden><p>shown later", "shown later"),
        (
            "<figure><img src=a.png alt=A><figcaption>cap</figcaption></figure>",
            "![A](https://example.com/a/a.png)\n\ncap",
        ),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<select><option>a<option>b</select>", "a b"),
        // Embedded media.
        (
            "<iframe src=/v title='A video'></iframe> <video src=m.mp4>no</video> <audio><source src=s.ogg></audio>",
            "[A video](https://example.com/v) [video](https://example.com/a/m.mp4) [audio](https://example.com/a/s.ogg)",
        ),
        ("<iframe></iframe><video></video>x", "x"),
        (
            "<video><p>see <a href=v.mp4>the film</a></p></video><object>fallback</object>",
            "see [the film](https://example.com/a/v.mp4)\n\nfallback",
        ),
        (
            "<object data=x.pdf title=Plan>no</object> <iframe data-src=/late></iframe>",
            "[Plan](https://example.com/a/x.pdf) [iframe](https://example.com/late)",
        ),
        (
            "<img src='' alt=only><img alt=a srcset=', s.png 1x, t.png 2x'><img alt=b data-srcset='u.png, v.png 2x' src='data:x,'>",
            "only![a](https://example.com/a/s.png)![b](https://example.com/a/u.png)",
        ),
        (
            "<img src=spacer.gif data-lazy-src=l.png><img data-original=o.png src='data:image/gif,'>",
            "![](https://example.com/a/l.png)![](https://example.com/a/o.png)",
        ),
        ("<base href='data:text/html,x'><a href=c>x</a>", "[x](https://example.com/a/c)"),
        (
            "<math alttext='x^2'><mi>x</mi></math> <math><semantics><mi>y</mi><annotation>tex</annotation></semantics></math>",
            "x^2 y",
        ),
        // Text that is not HTML, and broken HTML.
        ("", ""),
        ("plain text, 1 < 2 &amp;&amp; a&lt;b", "plain text, 1 < 2 && a\\<b"),
        ("</p></div></body></html>", ""),
        ("<p>unclosed <b>bold <i>both", "unclosed **bold _both_**"),
    ] {
        let converted = convert(html);
        if converted != expected {
            failures.push(format!("{html}\n  gives    {converted:?}\n  expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn cells_beyond_the_last_column_are_joined_to_it() {
    let row = |tag: &str| (0..300).map(|n| format!("<{tag}>c{n}")).collect::<String>();
    let text = convert(&format!("<table><tr>{}<tr>{}</table>", row("th"), row("td")));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    for line in [lines[0], lines[2]] {
        assert_eq!(line.matches(" |").count(), 256);
        assert!((0..300).all(|n| line.contains(&format!("c{n}"))), "{line}");
        assert!(line.ends_with("c298<br>c299 |"), "{line}");
    }
}

#[test]
fn a_huge_colspan_is_limited_to_the_columns_of_a_table() {
    let max = usize::MAX;
    let text = convert(&format!("<table><tr><th>a<th colspan={max}>b<tr><td>1<td>2</table>"));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("| a | b |  |") && lines[2].starts_with("| 1 | 2 |  |"), "{text}");
    assert!(lines.iter().all(|line| line.matches(" |").count() == 256), "{text}");
}

#[test]
fn self_closing_tags_are_elements_in_xhtml_only() {
    let page = "<head><title/><script src='a.js'/><style/></head><body><p>a <b/>b <i class='x'/>c<br/>d</p><div/>\
        <iframe src='f'/><textarea/><svg><g><g/></g></svg><p>e</p></body>";
    let shown = "a b c\\\nd\n\n[iframe](f)\n\ne";
    let named = format!("<html xmlns='http://www.w3.org/1999/xhtml'>{page}</html>");
    assert_eq!(markdown(&named, None, &MarkdownOptions::default()).as_deref(), Ok(shown));
    let xhtml = MarkdownOptions { xhtml: true, ..MarkdownOptions::default() };
    assert_eq!(markdown(&format!("<html>{page}</html>"), None, &xhtml).as_deref(), Ok(shown));
    // In HTML, the slash is ignored.
    assert_eq!(
        markdown("<i/>a<p>b", None, &MarkdownOptions::default()).as_deref(),
        Ok("*a*\n\n*b*")
    );
}

#[test]
fn links_stay_relative_without_a_base_address() {
    let text =
        markdown("<a href=../x>a</a> <a href='/y z'>b</a>", None, &MarkdownOptions::default());
    assert_eq!(text.as_deref(), Ok("[a](../x) [b](/y%20z)"));
    let based = markdown(
        "<base href='https://x.example/d/'><a href=e>a</a>",
        None,
        &MarkdownOptions::default(),
    );
    assert_eq!(based.as_deref(), Ok("[a](https://x.example/d/e)"));
}

#[test]
fn the_indent_of_deep_lists_is_limited() {
    let page = format!("{}end{}", "<ul><li>x".repeat(200), "</ul>".repeat(200));
    let text = markdown(&page, None, &MarkdownOptions::default()).unwrap();
    assert_eq!(text.matches('x').count(), 200);
    assert!(text.ends_with("end"));
    assert!(text.lines().all(|line| line.len() < 100), "{text}");
}
