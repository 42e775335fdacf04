//! Every attack, by its line: what it is, its expected end, and the tests that show that.
//!
//! The tests are named by their paths, so that a renamed or removed one does not compile here.
//! `table` compares the whole with SECURITY.md, and prints the results of each attack.

use crate::{
    absent, arguments, cancellation, command_line, dead_children, determinism, errors_teach, install, isolation as jar,
    limits, namespaces, numbers, tool_calls, values as json, web,
};

use super::{
    baseline, calls, children, clients, component, cpu, escape, extremes, floods, holdings, isolation, logs, memory,
    names, processes, schemas, secrets, stack, supply, texts, trust, values, workspace,
};

/// A test of this binary.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) run: fn(),
}

/// An attack.
pub(crate) struct Entry {
    pub(crate) line: u8,
    pub(crate) attack: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) tests: Vec<Test>,
}

macro_rules! catalogue {
    ($($line:literal $attack:literal => $expected:literal: $($test:path),+;)+) => {
        /// All of them, in the order of their lines.
        pub(crate) fn entries() -> Vec<Entry> {
            vec![$(Entry {
                line: $line,
                attack: $attack,
                expected: $expected,
                tests: vec![$(Test { name: stringify!($test), run: || $test() }),+],
            }),+]
        }
    };
}

catalogue! {
    1 "`while (true)`" => "`fuel`, `compute` or `timeout`": cpu::fuel_ends_every_endless_script_whatever_it_catches, cpu::the_clock_ends_what_takes_long_and_little_fuel, limits::the_timeout_ends_a_script_that_computes;
    2 "`for (;;) await 0`" => "`fuel` or `compute`": cpu::fuel_ends_every_endless_script_whatever_it_catches, limits::compute_time_ends_every_endless_script;
    3 "microtasks and thenables that queue themselves" => "`fuel` or `compute`": cpu::fuel_ends_every_endless_script_whatever_it_catches, cpu::the_clock_ends_what_takes_long_and_little_fuel;
    4 "a regular expression that backtracks without end" => "`fuel`": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    5 "a regular expression with nested quantifiers" => "`fuel`": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    6 "a comparator that never returns" => "`fuel`": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    7 "a comparator that answers at random" => "success": cpu::work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules, json::lists_are_sorted_whatever_the_comparator_answers;
    8 "a comparator that throws, or changes the list" => "its error, or success": cpu::work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules;
    9 "huge integers" => "`RangeError`, or `compute`": cpu::work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules, cpu::the_clock_ends_what_takes_long_and_little_fuel;
    10 "`replace` with a callback over 10 MB" => "`compute` or `memory`": cpu::the_clock_ends_what_takes_long_and_little_fuel, cpu::what_grows_without_end_meets_the_memory_limit;
    11 "a million times `s += x`" => "`compute`": cpu::the_clock_ends_what_takes_long_and_little_fuel;
    12 "`JSON.parse` of 10 MB" => "`memory`": cpu::work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules;
    13 "`indexOf` over a length of 2⁵³−1" => "`fuel`": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    14 "the spread of an endless generator" => "`memory`": cpu::what_grows_without_end_meets_the_memory_limit;
    15 "`Atomics.wait`" => "`TypeError`": cpu::work_that_is_large_and_ends_succeeds_or_fails_by_its_own_rules;
    16 "many short calls with loops between them" => "`calls` or `fuel`": calls::work_between_calls_counts_all_together;
    17 "the largest `copyWithin`, again and again" => "`compute`": cpu::the_clock_ends_what_takes_long_and_little_fuel;
    18 "a getter or a Proxy that loops while the value is converted" => "`fuel`": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    19 "`toString` and `toJSON` that loop when they are logged" => "`fuel`, or never called": cpu::fuel_ends_every_endless_script_whatever_it_catches;
    20 "`try` and `finally` that swallow limits" => "the limit all the same": cpu::fuel_ends_every_endless_script_whatever_it_catches, errors_teach::a_script_that_catches_everything_cannot_swallow_a_limit;
    21 "a text that doubles" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    22 "`a = a.concat(a)`" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    23 "`Array(2 ** 32 - 1).fill(0)`" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    24 "`a[2 ** 32 - 2] = 1`" => "success": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    25 "huge and growing buffers" => "`memory`, or `RangeError`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught, memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    26 "maps and sets that grow" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    27 "ten million pending promises" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    28 "`Symbol.for` of ever new keys" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    29 "ever new keys of JSON, and bodies of functions" => "`memory`": memory::the_memory_limit_ends_whatever_hoards_and_cannot_be_caught;
    30 "a loop that makes garbage" => "success": memory::garbage_is_no_hoard;
    31 "churning `WeakRef` and `FinalizationRegistry`" => "success": memory::garbage_is_no_hoard;
    32 "`padEnd(2 ** 30)`" => "`memory`": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    33 "`Array(2 ** 31).join()`" => "`memory`": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    34 "`JSON.stringify` of a length of 2³²−1" => "`memory`": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    35 "`apply` with a length of 2³¹" => "`memory`": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made;
    36 "`sort` over a length of 2³¹" => "`fuel`": memory::sorting_what_is_not_there_is_work_like_any_other;
    37 "returning an empty array with a length of 2³²−1" => "`output`": memory::what_asks_for_too_much_at_once_is_refused_before_it_is_made, json::a_huge_value_is_refused_before_it_fills_the_memory;
    38 "endless recursion" => "`stack`, or `fuel` where it is caught": stack::endless_recursion_is_a_stack_error_wherever_it_goes_through, stack::a_full_stack_that_is_caught_is_no_way_around_another_limit, errors_teach::endless_recursion_ends_the_script_and_nothing_else;
    39 "recursion through getters and `valueOf`" => "`stack`": stack::endless_recursion_is_a_stack_error_wherever_it_goes_through;
    40 "a source that nests 1,000 to 100,000 deep" => "success, or `stack` or `syntax`": stack::a_source_that_nests_deep_never_ends_the_host, limits::deep_nesting_ends_in_an_error_and_the_host_lives_on;
    41 "`Function('('.repeat(5e3))`" => "`stack`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    42 "nested groups of a regular expression" => "`SyntaxError`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    43 "JSON that nests 100,000 deep, in the jar and on the host" => "a value, or an error that can be caught": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along, children::a_result_that_is_too_deep_too_large_or_no_utf8_fails_its_call_alone;
    44 "a deep object stringified, returned, passed" => "an error that names the bound": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along, json::values_nest_127_levels_deep_and_no_deeper;
    45 "`flat(Infinity)` of what is cyclic" => "`stack`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    46 "a prototype chain of 100,000" => "`stack`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    47 "a chain of 100,000 proxies" => "`stack`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    48 "a chain of 100,000 `bind`s" => "`memory`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    49 "`1+1+…` 100,000 times" => "`stack`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    50 "deep `Error.cause` and `AggregateError`" => "the error": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    51 "a tool call at the deepest recursion" => "success, or `calls`": stack::what_is_deep_and_ends_neither_overflows_nor_takes_the_host_along;
    52 "`constructor.constructor('return this')()`" => "the jar's own global object": escape::code_made_at_run_time_reaches_nothing_that_the_script_could_not, jar::the_global_object_is_the_jar_s_own_and_holds_the_language_alone;
    53 "`eval`, `Function` and their kin" => "reach what the script reaches": escape::code_made_at_run_time_reaches_nothing_that_the_script_could_not;
    54 "`import`, `require`, `process`, `fetch`, `Deno`, `WebAssembly`" => "absent": escape::code_made_at_run_time_reaches_nothing_that_the_script_could_not, absent::what_is_absent_says_what_serves_instead, absent::modules_are_refused_with_what_serves_instead;
    55 "overwriting `tools`, namespaces, `console`, `JSON`, `Promise`" => "the script's own loss": escape::what_a_script_overwrites_is_its_own_loss, jar::replaced_built_ins_do_not_change_what_belljar_makes_of_values, namespaces::a_namespace_cannot_be_changed;
    56 "`Object.prototype.{then, toJSON, get}`" => "disturb nothing": jar::polluted_prototypes_disturb_neither_values_nor_calls, jar::a_polluted_then_cannot_take_the_results_of_tools, jar::a_polluted_to_json_is_the_script_s_own_wish;
    57 "a setter at `Array.prototype[0]`" => "disturbs nothing": jar::polluted_prototypes_disturb_neither_values_nor_calls;
    58 "overridden species, `toPrimitive`, iterators" => "disturb nothing": escape::what_a_script_overwrites_is_its_own_loss;
    59 "patched `Function.prototype.call` and `apply`" => "disturb nothing": escape::what_a_script_overwrites_is_its_own_loss, jar::polluted_prototypes_disturb_neither_values_nor_calls;
    60 "a Proxy that records what is read of an argument" => "what `JSON.stringify` reads": escape::an_argument_is_read_as_json_stringify_reads_it_and_no_more;
    61 "stacks that show the host's paths" => "none": jar::neither_stacks_nor_errors_show_anything_of_the_host;
    62 "a tool kept and called after the run" => "not called": escape::a_tool_is_not_called_once_the_script_has_returned;
    63 "new names of the global object" => "a closed list": jar::the_names_of_the_global_object_are_a_closed_list;
    64 "call handles guessed, reused, dropped twice" => "`internal`, and no call": component::a_handle_that_was_not_given_calls_nothing;
    65 "a hostile component in place of the guest" => "refused, or a typed error": component::a_component_that_imports_what_it_may_not_have_is_not_let_in, component::a_component_that_asks_for_streams_futures_or_async_functions_is_not_let_in, component::a_component_that_waits_for_nothing_is_ended_at_once, component::a_result_that_is_none_is_an_internal_error_and_no_panic, component::a_result_that_is_too_large_or_too_deep_is_refused_before_anything_is_built_of_it, component::whatever_a_component_does_without_end_a_limit_ends_it, component::a_component_that_starts_without_end_or_with_a_trap_ends_too, component::a_component_that_needs_more_memory_than_its_limit_never_starts, component::what_a_component_gives_to_an_import_is_checked_and_bounded, component::endless_recursion_in_machine_code_is_a_stack_error, component::a_panic_inside_the_guest_is_a_typed_outcome_that_names_no_place_of_the_build, component::what_a_component_does_after_it_has_returned_is_ended_and_never_seen;
    66 "`undefined`, `NaN`, `-0`, `Infinity`" => "as `JSON.stringify` has them": values::sparse_and_lazy_values_are_what_json_makes_of_them, json::a_value_is_what_json_stringify_makes_of_it;
    67 "big integers, symbols, functions" => "`TypeError` with the place, or left out": values::sparse_and_lazy_values_are_what_json_makes_of_them, json::what_cannot_be_json_is_an_error_that_names_the_place;
    68 "`Date`, `Map`, `Set`, typed arrays, errors, regular expressions" => "settled forms": json::what_json_stringify_makes_a_surprise_of_is_settled;
    69 "what is cyclic" => "`TypeError` with the place": values::sparse_and_lazy_values_are_what_json_makes_of_them, json::what_cannot_be_json_is_an_error_that_names_the_place;
    70 "getters that throw or act" => "the script's own error": values::sparse_and_lazy_values_are_what_json_makes_of_them;
    71 "`toJSON` that returns what is cyclic" => "`TypeError`": values::sparse_and_lazy_values_are_what_json_makes_of_them;
    72 "lone surrogates in argument, key, log, error, result" => "U+FFFD, or kept inside": values::texts_that_no_utf8_can_hold_are_replaced_wherever_they_leave, json::a_lone_surrogate_becomes_the_replacement_character, numbers::a_lone_surrogate_of_a_result_is_kept_as_in_json_parse;
    73 "NUL, U+2028, a byte order mark, a key of 1 MB" => "pass whole": values::special_characters_and_large_keys_pass_whole;
    74 "64-bit numbers, `1e400`" => "digits, `Infinity`": numbers::an_integer_beyond_what_numbers_hold_exactly_arrives_as_its_digits, numbers::what_is_over_every_number_is_infinite_as_in_json_parse;
    75 "keys `__proto__`, `constructor`, `then`, and twice the same" => "own properties": json::special_keys_of_a_result_are_own_properties_and_pollute_nothing, numbers::a_key_that_is_called_proto_is_a_key, numbers::of_equal_keys_the_last_counts_as_in_json_parse;
    76 "a value of 100 MB, of a million keys" => "`output`": values::a_value_over_its_limit_is_refused_with_the_size_it_has_and_never_cut;
    77 "a child that answers with invalid UTF-8" => "an error that can be caught": children::a_result_that_is_too_deep_too_large_or_no_utf8_fails_its_call_alone;
    78 "sparse arrays, async generators" => "as JSON has them": values::sparse_and_lazy_values_are_what_json_makes_of_them;
    79 "a value over the limit" => "`output` with the size, never a part": values::a_value_over_its_limit_is_refused_with_the_size_it_has_and_never_cut, json::a_value_larger_than_max_output_is_an_error_with_the_size_it_would_have_had;
    80 "a million calls, one after the other" => "`calls`": calls::calls_without_number_meet_their_limit, tool_calls::thousands_of_sequential_calls_leave_nothing_behind;
    81 "`Promise.all` of 100,000" => "`calls`": calls::calls_without_number_meet_their_limit, limits::calls_at_once_are_bounded_by_themselves;
    82 "a call that is not awaited at the end" => "awaited, and named": tool_calls::a_call_that_is_not_awaited_ends_before_the_run_does, errors_teach::calls_that_are_still_running_at_the_end_are_named_with_their_lines;
    83 "a promise that never resolves" => "`deadlock` at once": calls::what_is_thrown_and_no_error_is_reported_all_the_same, errors_teach::a_wait_for_nothing_is_a_deadlock_at_once;
    84 "unhandled rejections, `throw null`" => "said, or `exception`": calls::what_is_thrown_and_no_error_is_reported_all_the_same, errors_teach::a_rejection_that_nobody_looked_at_is_in_the_logs;
    85 "the child crashes in the middle of a call" => "an error that can be caught": dead_children::a_child_that_crashes_during_a_call_fails_that_call_alone_and_serves_the_next_one;
    86 "the child hangs" => "an error that can be caught": dead_children::a_call_that_is_never_answered_is_given_up_after_its_own_limit;
    87 "an answer twice, to nobody, or late" => "ignored": children::an_answer_that_comes_twice_to_nobody_or_late_is_nobodys;
    88 "cancelling at every await" => "the slot is free, calls are aborted": isolation::a_run_that_is_dropped_at_any_poll_frees_its_slot, tool_calls::a_run_that_ends_early_aborts_its_calls;
    89 "the client goes, SIGTERM" => "ends, and leaves no child": cancellation::a_server_ends_with_its_client_or_on_a_signal_and_leaves_no_child_behind, cancellation::an_interrupted_run_ends_promptly_and_keeps_what_it_had_logged_and_called;
    90 "answer and deadline in one tick" => "a value or `timeout`": calls::an_answer_at_the_very_moment_of_the_deadline_is_a_value_or_a_timeout_and_nothing_else;
    91 "the tool list changes during a run" => "the new one counts": arguments::a_changed_tool_list_changes_what_is_asked_for;
    92 "tools named `class`, `__proto__`, with dashes, nothing, 1 KB" => "called by their names, or left out": names::a_tool_of_any_name_is_called_by_it_or_is_not_there_and_disturbs_no_other, namespaces::a_server_and_its_tools_go_by_their_exact_names_and_by_safe_ones;
    93 "names that collide; servers named `console`, `tools`" => "a fixed rule, nothing lost": names::a_server_of_any_name_takes_nothing_of_the_language_or_of_another_server;
    94 "`*/`, backticks and line breaks in a description" => "stay a comment": names::a_description_ends_no_comment_and_acts_on_nothing;
    95 "a schema that refers to itself or multiplies" => "bounded": names::a_schema_that_refers_to_itself_or_multiplies_costs_neither_time_nor_room;
    96 "a log line of 1 GB" => "`memory`, or cut and said": logs::a_log_of_any_size_is_cut_and_said_to_be;
    97 "ten million log lines" => "cut and said": logs::a_log_of_any_size_is_cut_and_said_to_be, limits::log_lines_are_bounded_too;
    98 "logging a Proxy, what is cyclic" => "shown": logs::whatever_is_logged_is_shown;
    99 "ANSI, OSC, CR LF in texts" => "visible, never obeyed": command_line::no_control_character_of_a_script_reaches_a_stream_raw, dead_children::nothing_that_a_child_says_reaches_a_terminal_raw, children::nothing_of_a_child_or_a_client_reaches_a_log_line_raw;
    100 "globals, symbols, prototypes over 10,000 runs on one slot" => "nothing is left": isolation::thousands_of_runs_on_one_slot_leave_nothing_to_each_other, jar::nothing_of_a_run_is_left_for_the_next;
    101 "a canary in memory that was another run's" => "zero": isolation::fresh_memory_is_zero_whatever_was_there_before, component::a_component_finds_its_memory_as_it_was_made_whatever_it_left_in_it;
    102 "`Math.random` and `randomUUID` in two runs" => "differ": isolation::random_numbers_and_ids_differ_from_run_to_run, web::randomness_differs_from_run_to_run_and_repeats_with_the_seed;
    103 "clocks as a channel" => "1 ms, whichever is read": isolation::every_clock_goes_by_the_millisecond;
    104 "one run more than there are slots" => "waits": limits::a_queued_run_gets_the_slot_that_is_freed, limits::a_run_beyond_slots_and_queue_is_told_that_belljar_is_busy;
    105 "many runs" => "memory and descriptors as before": baseline::what_hostile_runs_take_comes_back;
    106 "the future dropped at each poll" => "the slot is free": isolation::a_run_that_is_dropped_at_any_poll_frees_its_slot;
    107 "an instance that has trapped" => "never entered again": isolation::a_run_after_a_trap_has_an_instance_of_its_own;
    108 "each growth of memory denied once" => "`memory`, or success": isolation::whichever_growth_of_memory_is_denied_the_run_ends_as_memory;
    109 "each amount of fuel" => "`fuel`, or success": isolation::with_whatever_fuel_a_run_succeeds_or_ends_as_fuel, determinism::a_script_without_tools_uses_the_same_fuel_on_every_run_and_under_load;
    110 "a schema that is costly to check or to compile" => "checked in a process that is killed in time": schemas::a_schema_that_is_costly_holds_up_nothing_and_its_call_goes_on_unchecked, schemas::what_a_worker_checks_is_refused_in_the_same_words_and_a_lost_worker_is_replaced, schemas::the_worker_of_a_run_that_is_dropped_ends_with_it, schemas::a_run_over_a_costly_schema_ends_in_its_time, schemas::a_signal_ends_a_process_whose_worker_checks_and_the_worker_too;
    111 "a thousand calls that wait, each with arguments of 1 MiB" => "beyond the budget an error that can be caught": holdings::a_thousand_calls_that_wait_with_a_megabyte_each_hold_no_more_than_the_budget, holdings::which_calls_find_no_room_depends_on_the_script_and_not_on_when_answers_come, holdings::a_refused_call_that_is_not_caught_ends_the_run_with_the_limit;
    112 "answers of 4.9 MB that pile up while the script computes" => "all arrive, within the budget": holdings::answers_that_come_while_a_script_computes_stay_within_the_budget_and_all_arrive, holdings::a_recorded_order_is_followed_whatever_has_to_be_held_for_it, holdings::other_runs_and_calls_of_the_same_child_go_on_while_answers_pile_up;
    113 "a client of `serve` that writes and never reads; lines and notifications without end" => "`busy`, and not read from": clients::a_client_that_writes_and_never_reads_is_not_read_from_and_costs_no_memory, clients::the_bounds_of_a_client_hold_when_the_daemon_does_the_work, clients::a_client_with_all_its_requests_in_flight_can_still_cancel_them, clients::a_line_of_any_length_is_refused_and_not_kept, clients::a_million_notifications_cost_nothing_and_delay_nobody_for_long;
    114 "a cloned repository with files of MCP clients" => "named, and not taken": workspace::import_takes_nothing_of_the_current_folder_unasked, workspace::import_shows_each_command_whole_and_no_secret, workspace::a_person_is_asked_of_each_file_of_the_current_folder_and_only_yes_takes_it;
    115 "a child reads belljar's environment and memory, or holds what belljar inherited" => "refused; closed": processes::a_child_cannot_read_the_environment_or_memory_of_belljar_or_its_supervisor, processes::neither_a_child_nor_the_daemon_holds_what_belljar_inherited, processes::a_child_is_started_as_any_program_is, processes::slots_are_reset_as_fast_in_a_hidden_process_of_an_ordinary_user;
    116 "a secret beside what is shown of a configuration, or said by a server on stderr, in a failure, in URLs, JSON and base64" => "masked; results are as they are": install::only_belljars_own_entry_is_shown_and_its_secrets_are_masked, workspace::import_shows_each_command_whole_and_no_secret, secrets::no_text_of_belljars_says_a_secret_that_a_server_says, secrets::what_is_wrong_with_a_list_is_told_without_a_secret_in_it, secrets::what_a_model_reads_and_a_daemon_logs_of_a_failed_server_has_no_secret, secrets::results_values_and_logs_of_scripts_are_not_masked;
    117 "a child asks in belljar's name, for the user's password, the model or all servers' context" => "its own name in front, or declined": trust::what_a_child_asks_is_asked_in_its_own_name_and_only_as_its_owner_allows;
    118 "`readOnlyHint` on a tool that drops tables, and a query that is retried" => "refused, and never called twice": trust::a_tool_that_only_calls_itself_harmless_is_neither_queried_nor_tried_again, trust::retries_are_for_tools_that_the_owner_vouches_for;
    119 "a token sent in the open to a name or an address elsewhere; a login that leads into the private network" => "refused before anything is sent": trust::a_secret_in_any_part_of_an_open_url_is_not_sent, trust::a_login_is_not_led_into_the_private_network;
    120 "a key of `../../../../etc` or `--eval`, whole or in parts, or the name of a link" => "an error that can be caught, and no process": trust::a_key_leads_neither_out_of_its_folder_nor_into_the_options, trust::a_name_in_a_key_follows_no_link_out_of_the_owners_folder;
    121 "hidden, acting and forged texts, of every class and on every way out" => "shown as escapes, and no line of belljar's": texts::no_text_acts_on_a_terminal_or_forges_a_line_on_it, texts::a_value_keeps_its_lines_and_its_data_and_acts_on_nothing, texts::what_a_client_says_acts_on_no_log, texts::what_a_child_says_acts_on_no_log_of_a_daemon, texts::no_text_forges_a_line_before_a_model;
    122 "a place or a configuration that another user can write to" => "another place, or refused with the command that helps": workspace::a_strangers_folder_in_the_daemons_place_stops_no_command, workspace::what_belljar_writes_is_its_owners_alone_whatever_the_umask_is, workspace::a_configuration_that_another_user_may_write_starts_nothing, workspace::a_configuration_of_another_user_starts_nothing, workspace::a_file_of_variables_that_another_user_may_write_is_refused;
    123 "limits of 2⁶⁴−1 or of nothing; tool lists that change and stderr that goes on without end; handles without end; a child that kills or stops its supervisor" => "refused; asked for seldom, logged in part; `internal`; ended with its helpers": extremes::extreme_limits_on_the_command_line_are_limits_or_refused, extremes::extreme_limits_in_belljar_toml_are_limits_or_refused, extremes::extreme_limits_of_a_client_are_limits_or_refused, floods::a_child_whose_tools_change_without_end_is_asked_for_them_seldom_and_costs_no_memory, floods::a_child_that_floods_stderr_is_logged_in_part_and_what_was_left_out_is_said, floods::the_last_words_of_a_child_that_flooded_stderr_are_still_known, component::what_a_component_makes_without_end_on_the_host_is_bounded, processes::a_child_that_kills_its_supervisor_is_ended_with_the_helpers_that_left_it, processes::a_child_that_stops_its_supervisor_is_ended_with_belljar_all_the_same;
    124 "a package or an interpreter that is not the one that was reviewed" => "refused by its digest; named by it": supply::every_package_that_is_fetched_goes_by_its_digest, supply::the_interpreter_is_named_by_its_digest;
}
