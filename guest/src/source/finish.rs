//! What is thrown on, however it is cleaned up after.
//!
//! Where a `try` has a `catch` and a `finally`, the engine keeps what the `catch` throws in one place for all code, and anything in the
//! `finally` that catches something itself takes it away: the error is lost, and the program goes on. And a `return` in the `finally` does
//! not put it aside. It is otherwise with a `finally` alone, so that
//!
//! ```js
//! try { work(); } catch (error) { throw other(error); } finally { close(); }
//! ```
//!
//! becomes
//!
//! ```js
//! try { try { work(); } catch (error) { throw other(error); } } finally { close(); }
//! ```

use oxc::{
    allocator::{Allocator, ArenaVec},
    ast::{
        ast::{BlockStatement, Program, Statement, TryStatement},
        builder::AstBuilder,
    },
    ast_visit::{VisitMut, walk_mut},
    span::SPAN,
};

/// Takes each `try` with both apart.
pub(super) fn apart<'a>(allocator: &'a Allocator, source: &str, program: &mut Program<'a>) {
    if source.contains("finally") {
        Parter { builder: AstBuilder::new(allocator) }.visit_program(program);
    }
}

struct Parter<'a> {
    builder: AstBuilder<'a>,
}

impl<'a> VisitMut<'a> for Parter<'a> {
    fn visit_try_statement(&mut self, attempt: &mut TryStatement<'a>) {
        walk_mut::walk_try_statement(self, attempt);
        if attempt.finalizer.is_none() || attempt.handler.is_none() {
            return;
        }
        let builder = &self.builder;
        let block =
            std::mem::replace(&mut attempt.block, BlockStatement::boxed(SPAN, ArenaVec::new_in(builder), builder));
        let inner = Statement::new_try_statement(attempt.span, block, attempt.handler.take(), None, builder);
        attempt.block.body.push(inner);
    }
}
