//! How a program is walked through: as oxc's `VisitJs`, but its walk is compiled once.
//!
//! oxc's walk is generic. Compiled for each of the thirty visitors, it took 0.7 MB of machine code;
//! here it is compiled for [`dyn Visitor`](Visitor), and for `plan/names.rs`, which keeps nodes.

use oxc::{
    ast::ast::{
        AccessorProperty, Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, AwaitExpression,
        BinaryExpression, BindingIdentifier, BlockStatement, CallExpression, CatchClause, ChainElement,
        ComputedMemberExpression, ConditionalExpression, Decorator, DoWhileStatement, Expression, ForInStatement,
        ForOfStatement, ForStatement, ForStatementInit, ForStatementLeft, FormalParameters, Function,
        IdentifierReference, IfStatement, JSXElement, JSXFragment, LogicalExpression, MemberExpression,
        MethodDefinition, NewExpression, ObjectProperty, Program, ReturnStatement, SimpleAssignmentTarget,
        SpreadElement, Statement, StaticMemberExpression, TSModuleBlock, TSNamespaceDeclaration,
        TaggedTemplateExpression, ThrowStatement, TryStatement, UnaryExpression, VariableDeclarator, WhileStatement,
    },
    ast_visit::{VisitJs, walk_js},
    semantic::ScopeFlags,
};

/// Makes of a list of nodes the trait, and of all its visitors the one of oxc's that the walk is
/// compiled for.
macro_rules! visitor {
    ($($enter:ident, $visit:ident, $walk:ident, $node:ident $(, $flags:ty)?;)*) => {
        /// What is done at the nodes of a program.
        pub(crate) trait Visitor<'a> {
            $(/// Looks at a node, and says whether what is inside of it is visited.
            fn $enter(&mut self, _: &$node<'a> $(, _: $flags)?) -> bool {
                true
            })*
        }

        impl<'a> VisitJs<'a> for Visiting<'_, 'a> {
            $(visitor!(@visit $enter, $visit, $walk, $node $(, $flags)?);)*
        }
    };
    (@visit $enter:ident, $visit:ident, $walk:ident, $node:ident) => {
        fn $visit(&mut self, node: &$node<'a>) {
            if self.0.$enter(node) {
                walk_js::$walk(self, node);
            }
        }
    };
    (@visit $enter:ident, $visit:ident, $walk:ident, $node:ident, $flags:ty) => {
        fn $visit(&mut self, node: &$node<'a>, flags: $flags) {
            if self.0.$enter(node, flags) {
                walk_js::$walk(self, node, flags);
            }
        }
    };
}

/// A visitor as oxc's: `Visiting(&mut visitor).visit_program(program)` visits a program with it,
/// and `walk_js::walk_program(&mut Visiting(&mut visitor), program)` what is inside of one.
pub(crate) struct Visiting<'v, 'a>(pub(crate) &'v mut dyn Visitor<'a>);

visitor! {
    enter_accessor_property, visit_accessor_property, walk_accessor_property, AccessorProperty;
    enter_argument, visit_argument, walk_argument, Argument;
    enter_arrow_function_expression, visit_arrow_function_expression, walk_arrow_function_expression, ArrowFunctionExpression;
    enter_assignment_expression, visit_assignment_expression, walk_assignment_expression, AssignmentExpression;
    enter_assignment_target, visit_assignment_target, walk_assignment_target, AssignmentTarget;
    enter_await_expression, visit_await_expression, walk_await_expression, AwaitExpression;
    enter_binary_expression, visit_binary_expression, walk_binary_expression, BinaryExpression;
    enter_binding_identifier, visit_binding_identifier, walk_binding_identifier, BindingIdentifier;
    enter_block_statement, visit_block_statement, walk_block_statement, BlockStatement;
    enter_call_expression, visit_call_expression, walk_call_expression, CallExpression;
    enter_catch_clause, visit_catch_clause, walk_catch_clause, CatchClause;
    enter_chain_element, visit_chain_element, walk_chain_element, ChainElement;
    enter_computed_member_expression, visit_computed_member_expression, walk_computed_member_expression, ComputedMemberExpression;
    enter_conditional_expression, visit_conditional_expression, walk_conditional_expression, ConditionalExpression;
    enter_decorator, visit_decorator, walk_decorator, Decorator;
    enter_do_while_statement, visit_do_while_statement, walk_do_while_statement, DoWhileStatement;
    enter_expression, visit_expression, walk_expression, Expression;
    enter_for_in_statement, visit_for_in_statement, walk_for_in_statement, ForInStatement;
    enter_for_of_statement, visit_for_of_statement, walk_for_of_statement, ForOfStatement;
    enter_for_statement, visit_for_statement, walk_for_statement, ForStatement;
    enter_for_statement_init, visit_for_statement_init, walk_for_statement_init, ForStatementInit;
    enter_for_statement_left, visit_for_statement_left, walk_for_statement_left, ForStatementLeft;
    enter_formal_parameters, visit_formal_parameters, walk_formal_parameters, FormalParameters;
    enter_function, visit_function, walk_function, Function, ScopeFlags;
    enter_identifier_reference, visit_identifier_reference, walk_identifier_reference, IdentifierReference;
    enter_if_statement, visit_if_statement, walk_if_statement, IfStatement;
    enter_jsx_element, visit_jsx_element, walk_jsx_element, JSXElement;
    enter_jsx_fragment, visit_jsx_fragment, walk_jsx_fragment, JSXFragment;
    enter_logical_expression, visit_logical_expression, walk_logical_expression, LogicalExpression;
    enter_member_expression, visit_member_expression, walk_member_expression, MemberExpression;
    enter_method_definition, visit_method_definition, walk_method_definition, MethodDefinition;
    enter_new_expression, visit_new_expression, walk_new_expression, NewExpression;
    enter_object_property, visit_object_property, walk_object_property, ObjectProperty;
    enter_program, visit_program, walk_program, Program;
    enter_return_statement, visit_return_statement, walk_return_statement, ReturnStatement;
    enter_simple_assignment_target, visit_simple_assignment_target, walk_simple_assignment_target, SimpleAssignmentTarget;
    enter_spread_element, visit_spread_element, walk_spread_element, SpreadElement;
    enter_statement, visit_statement, walk_statement, Statement;
    enter_static_member_expression, visit_static_member_expression, walk_static_member_expression, StaticMemberExpression;
    enter_tagged_template_expression, visit_tagged_template_expression, walk_tagged_template_expression, TaggedTemplateExpression;
    enter_throw_statement, visit_throw_statement, walk_throw_statement, ThrowStatement;
    enter_try_statement, visit_try_statement, walk_try_statement, TryStatement;
    enter_ts_module_block, visit_ts_module_block, walk_ts_module_block, TSModuleBlock;
    enter_ts_namespace_declaration, visit_ts_namespace_declaration, walk_ts_namespace_declaration, TSNamespaceDeclaration;
    enter_unary_expression, visit_unary_expression, walk_unary_expression, UnaryExpression;
    enter_variable_declarator, visit_variable_declarator, walk_variable_declarator, VariableDeclarator;
    enter_while_statement, visit_while_statement, walk_while_statement, WhileStatement;
}
