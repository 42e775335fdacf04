//! Takes out of a snapshot what a run has no use for.
//!
//! - The functions that only `init` calls: the snapshot is what they have done. They stay where
//!   they are, so that no function's index changes, but their bodies trap.
//! - The names of functions, which are for debuggers and profilers. The component that cargo builds
//!   has them.

use std::collections::HashSet;

use wasmtime::wasmparser::{
    BinaryReader, ConstExpr, ElementItems, ExternalKind, FunctionBody, Operator, Parser, Payload, Result, TypeRef,
};

/// What both a module and a component begin with: a magic number and a version.
const HEADER: usize = 8;
/// In a component, the section that is a module.
const MODULE: u8 = 1;
/// In a module, the sections that are there for tools, and the one with the functions' bodies.
const CUSTOM: u8 = 0;
const CODE: u8 = 10;
/// The body of an emptied function: no locals, `unreachable`, `end`.
const EMPTIED: [u8; 3] = [0, 0x00, 0x0b];

/// A snapshot without what no run needs.
pub(crate) fn without(snapshot: &[u8]) -> Vec<u8> {
    let without = rewritten(snapshot, |id, content| match id {
        MODULE => module_without(content).map(Some),
        _ => Ok(Some(content.to_vec())),
    });
    without.expect("wizer writes valid components")
}

fn module_without(module: &[u8]) -> Result<Vec<u8>> {
    let functions = Functions::read(module)?;
    let needed = functions.needed()?;
    rewritten(module, |id, content| match id {
        CUSTOM if is_named("name", content)? => Ok(None),
        CODE => Ok(Some(functions.code(&needed))),
        _ => Ok(Some(content.to_vec())),
    })
}

/// The functions of a module.
#[derive(Default)]
struct Functions<'m> {
    /// How many are imported. They have the first indices.
    imported: u32,
    /// Those that are called from outside, or by their place in a table.
    roots: Vec<u32>,
    bodies: Vec<FunctionBody<'m>>,
}

impl<'m> Functions<'m> {
    fn read(module: &'m [u8]) -> Result<Self> {
        let mut functions = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        functions.imported += u32::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                    }
                }
                Payload::GlobalSection(globals) => {
                    for global in globals {
                        functions.root_in(&global?.init_expr)?;
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) && export.name != "init"
                        {
                            functions.roots.push(export.index);
                        }
                    }
                }
                Payload::StartSection { func, .. } => functions.roots.push(func),
                Payload::ElementSection(elements) => {
                    for element in elements {
                        match element?.items {
                            ElementItems::Functions(indices) => {
                                functions.roots.extend(indices.into_iter().collect::<Result<Vec<_>>>()?);
                            }
                            ElementItems::Expressions(_, expressions) => {
                                for expression in expressions {
                                    functions.root_in(&expression?)?;
                                }
                            }
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => functions.bodies.push(body),
                _ => {}
            }
        }
        Ok(functions)
    }

    fn root_in(&mut self, expression: &ConstExpr<'_>) -> Result<()> {
        for operator in expression.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.roots.push(function_index);
            }
        }
        Ok(())
    }

    /// The section with the bodies of those that are needed.
    fn code(&self, needed: &HashSet<u32>) -> Vec<u8> {
        let mut code = leb(self.bodies.len());
        for (index, body) in (self.imported..).zip(&self.bodies) {
            let body: &[u8] = if needed.contains(&index) { body.as_bytes() } else { &EMPTIED };
            code.extend(leb(body.len()));
            code.extend(body);
        }
        code
    }

    /// The functions that the roots call, and those that these call.
    fn needed(&self) -> Result<HashSet<u32>> {
        let mut needed = HashSet::new();
        let mut found = self.roots.clone();
        while let Some(index) = found.pop() {
            let body = index.checked_sub(self.imported).and_then(|place| self.bodies.get(usize::try_from(place).ok()?));
            let Some(body) = body.filter(|_| needed.insert(index)) else { continue };
            for operator in body.get_operators_reader()? {
                if let Operator::Call { function_index }
                | Operator::ReturnCall { function_index }
                | Operator::RefFunc { function_index } = operator?
                {
                    found.push(function_index);
                }
            }
        }
        Ok(needed)
    }
}

fn is_named(name: &str, custom_section: &[u8]) -> Result<bool> {
    Ok(BinaryReader::new(custom_section, 0).read_string()? == name)
}

/// A module or component with other sections: `replace` gives the content of each, or leaves it
/// out.
fn rewritten(binary: &[u8], mut replace: impl FnMut(u8, &[u8]) -> Result<Option<Vec<u8>>>) -> Result<Vec<u8>> {
    let (header, sections) = binary.split_at(HEADER);
    let mut written = header.to_vec();
    let mut reader = BinaryReader::new(sections, HEADER);
    while !reader.eof() {
        let id = reader.read_u8()?;
        let length = reader.read_var_u32()?;
        let content = reader.read_bytes(usize::try_from(length).expect("it is in memory"))?;
        if let Some(replaced) = replace(id, content)? {
            written.push(id);
            written.extend(leb(replaced.len()));
            written.extend(replaced);
        }
    }
    Ok(written)
}

/// A number as WebAssembly writes it (LEB128).
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
