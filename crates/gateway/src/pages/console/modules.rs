//! Which modules a page of the console needs before it can draw: found by following their imports, so that a browser can
//! ask for all of them at once instead of one after the other.

/// Every module that `entry` needs, itself first, in the order in which they are found.
pub(super) fn needed<'a>(entry: &str, text_of: impl Fn(&str) -> Option<&'a str>) -> Vec<String> {
    let mut found = vec![entry.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        for import in text_of(&path).into_iter().flat_map(imports) {
            let import = beside(&path, import);
            if !found.contains(&import) {
                found.push(import);
            }
        }
        at += 1;
    }
    found
}

/// What stands behind the `from` of the lines that import or pass something on. A list of names that is broken over several
/// lines ends with such a line too.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines();
    let begins = ["import ", "export ", "} from "];
    let named = lines.filter(move |line| begins.iter().any(|begin| line.starts_with(begin)));
    named.filter_map(|line| {
        let (_, address) = line.rsplit_once(" from \"")?;
        let address = address.split('"').next()?;
        address.starts_with('.').then_some(address)
    })
}

/// An address as a module at `path` means it.
fn beside(path: &str, address: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in address.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn imports_are_followed_once_and_those_of_later_are_not() {
        let text_of = |path: &str| match path {
            "a.js" => Some(
                "import {\n  b,\n} from \"./parts/b.js\";\nconst later = () => import(\"./later.js\");\n",
            ),
            "parts/b.js" => Some("import { c } from \"../c.js\";\nexport { d } from \"./d.js\";\n"),
            "c.js" => Some("import { a } from \"./a.js\";\n"),
            _ => None,
        };
        let found = needed("a.js", text_of);
        assert_eq!(found, ["a.js", "parts/b.js", "c.js", "parts/d.js"]);
    }
}
