use std::time::Instant;
use toolwright_source::*;
fn dump(n: Node<'_>, depth: usize, doc: &Document) {
    println!(
        "{}{:?} {:?} {:?} raw={:?} slice={:?} ptr={}",
        "  ".repeat(depth),
        n.kind(),
        n.style(),
        n.span(),
        n.raw(),
        doc.source().slice(n.span()),
        n.pointer()
    );
    for i in n.items() {
        dump(i, depth + 1, doc)
    }
    for e in n.entries() {
        println!("{}key {:?} {:?}", "  ".repeat(depth + 1), e.key.span(), doc.source().slice(e.key.span()));
        dump(e.value, depth + 1, doc)
    }
}
fn time(name: &str, text: Vec<u8>, syntax: Syntax) {
    let len = text.len();
    let t = Instant::now();
    let doc = Document::parse("x", text, syntax);
    let parse = t.elapsed();
    let t = Instant::now();
    let _j = doc.root().to_json();
    let json = t.elapsed();
    let t = Instant::now();
    for p in doc.problems().iter() {
        let _ = render::concise(p);
        let _ = render::json(p);
        let _ = render::full(p, render::Colour::Off);
    }
    let ren = t.elapsed();
    let rss = std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find(|l| l.starts_with("VmHWM"))
        .unwrap()
        .to_owned();
    println!(
        "{name:40} {len:9} parse {:6.3} json {:6.3} render {:6.3} {rss} problems {:?}",
        parse.as_secs_f64(),
        json.as_secs_f64(),
        ren.as_secs_f64(),
        doc.problems()
            .iter()
            .map(|p| (p.code.name, p.message.chars().take(60).collect::<String>()))
            .take(1)
            .collect::<Vec<_>>()
    );
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "dump" {
        let syntax = if args[2] == "json" { Syntax::Json } else { Syntax::Yaml };
        for a in &args[3..] {
            let text = a.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
            println!("--- {text:?}");
            let doc = Document::parse("x", text.as_bytes(), syntax);
            dump(doc.root(), 0, &doc);
            println!(
                "comments {:?}",
                doc.comments().iter().map(|c| doc.source().slice(*c)).collect::<Vec<_>>()
            );
            for p in doc.problems() {
                println!("{} {:?} {:?} {:?}", render::concise(p), p.span, p.path, p.labels);
            }
        }
        return;
    }
    let n: usize = args[2].parse().unwrap();
    let only = args.get(3).cloned().unwrap_or_default();
    let soup = [
        "{",
        "[",
        "\"",
        "\\",
        "'",
        ":",
        ": ",
        "- ",
        "-\n",
        "? ",
        "?\n",
        "&a ",
        "&a\n",
        "#",
        "# \n",
        " #\n",
        "!",
        "!a ",
        "!a\n",
        "*a ",
        "*a\n",
        "a: ",
        "a:\n",
        "a\n",
        "a ",
        "|\n",
        "- |\n",
        "- |\n\n",
        ">",
        "%",
        "%TAG ! !\n",
        "%YAML 1.2\n",
        "---\n",
        "--- ",
        "...\n",
        "\t",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\0",
        "@",
        "`",
        ",",
        "[,",
        "a,",
        "}",
        "]",
        "[]",
        "{}",
        "[] ",
        "\"\"",
        "\"\" ",
        "''",
        "''\n",
        "\"\\",
        "- a\n",
        "- a #c\n",
        "- \"a\"\n",
        "- 'a'\n",
        "- &a a\n",
        "- !!str a\n",
        "? a\n",
        "? - ",
        "? a\n: b\n",
        "? [a]\n: b\n",
        "- - a\n",
        "- {a: b}\n",
        "- [a, b]\n",
        "- {a, b}\n",
        "a: b: ",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "é",
        "<<: ",
        "~\n",
        "~: ~\n",
        "'a': ",
        "\"a\n",
        "\"a\\\n",
        "'a\n",
        "a\n\n",
        "- >\n a\n",
        "- >\n\n",
        "- |2\n  a\n",
        "1e9 ",
        "[1e99,",
        "[0,",
        "{a: 1,",
        "{a,",
        "[a: b,",
        "[? a : b,",
        "[\"a\": b,",
        "[{a: b},",
        "{\"a\":",
        "[[],",
        "//\n",
        "/**/",
        "[//\n",
        "[/**/",
        "/*",
    ];
    for s in soup {
        for pre in
            ["", "[", "a: ", "- ", "a: |\n  ", "a: >\n  ", "a: \"", "a: '", "{", "[\"", "- - ", "&x [", "? "]
        {
            for (name, syntax) in [("json", Syntax::Json), ("yaml", Syntax::Yaml)] {
                if syntax == Syntax::Json && !["", "[", "{", "[\""].contains(&pre) {
                    continue;
                }
                let label = format!("{name} {pre:?} {s:?}");
                if !only.is_empty() && !label.contains(&only) {
                    continue;
                }
                let text = format!("{pre}{}", s.repeat(n / s.len()));
                let t = Instant::now();
                let doc = Document::parse("x", text, syntax);
                let e = t.elapsed().as_secs_f64();
                if e > 0.05 {
                    println!(
                        "{label:30} {e:.3} nodes? {:?}",
                        doc.problems().first().map(|p| (p.code.name, p.message.clone()))
                    );
                }
            }
        }
    }
    let _ = time;
}
