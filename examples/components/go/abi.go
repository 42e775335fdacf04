package main

import (
	"errors"
	"unsafe"
)

// What a text or a list is in the memory that both sides share.
type span struct{ at, length uint32 }

func (of span) text() string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(uintptr(of.at))), of.length))
}

// The error of a call: record tool-error.
type toolError struct {
	kind    uint8
	message span
	hint    [3]uint32
	content [3]uint32
}

// An element of record list-issues-result: its first fields.
type listed struct {
	id             int64
	project, title span
	_              [5]int64
}

// result<list-issues-result, tool-error>
type listResult struct {
	failed uint8
	_      [7]uint8
	// On failure, the error begins here.
	issues span
	total  int64
	_      [3]int64
}

// result<create-issue-result, tool-error>
type createResult struct {
	failed uint8
	_      [7]uint8
	// On failure, the error begins here.
	id             int64
	project, title span
	_              [7]int64
}

// An optional argument is a flag before its value; what is not there is zero.
//
//go:wasmimport belljar:mcp-tracker/tools@0.1.0 list-issues
func listIssues(
	hasProject uint32, project, projectLength uint32,
	hasState, state uint32,
	hasLabel uint32, label unsafe.Pointer, labelLength uint32,
	hasAssignee, assignee, assigneeLength uint32,
	hasLimit uint32, limit int64,
	result unsafe.Pointer,
)

//go:wasmimport belljar:mcp-archive/tools@0.1.0 create-issue
func createIssue(
	project unsafe.Pointer, projectLength uint32,
	title unsafe.Pointer, titleLength uint32,
	hasBody, body, bodyLength uint32,
	hasLabels, labels, labelsLength uint32,
	hasAssignee, assignee, assigneeLength uint32,
	result unsafe.Pointer,
)

type issue struct{ project, title string }

func urgentIssues() ([]issue, error) {
	const urgent = "urgent"
	var result listResult
	listIssues(0, 0, 0, 0, 0, 1, start(urgent), uint32(len(urgent)), 0, 0, 0, 0, 0, unsafe.Pointer(&result))
	if result.failed != 0 {
		return nil, failure(unsafe.Pointer(&result.issues))
	}
	var issues []issue
	found := unsafe.Slice((*listed)(unsafe.Pointer(uintptr(result.issues.at))), result.issues.length)
	for _, each := range found {
		issues = append(issues, issue{each.project.text(), each.title.text()})
	}
	return issues, nil
}

func copyIssue(project, title string) (string, error) {
	var result createResult
	createIssue(
		start(project), uint32(len(project)), start(title), uint32(len(title)),
		0, 0, 0, 0, 0, 0, 0, 0, 0, unsafe.Pointer(&result),
	)
	if result.failed != 0 {
		return "", failure(unsafe.Pointer(&result.id))
	}
	return result.title.text(), nil
}

func start(text string) unsafe.Pointer {
	return unsafe.Pointer(unsafe.StringData(text))
}

func failure(at unsafe.Pointer) error {
	return errors.New((*toolError)(at).message.text())
}

// What belljar was given room for, and what run has returned. Go's collector sees no other reference to it.
var kept [][]uint64
var returned struct {
	failed uint32
	text   span
}

// Gives belljar room for an answer.
//
//go:wasmexport cabi_realloc
func realloc(old, oldSize, align, size uint32) uint32 {
	room := make([]uint64, size/8+1)
	kept = append(kept, room)
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(room))))
}

//go:wasmexport run
func run() uint32 {
	text, err := copyUrgent()
	if err != nil {
		returned.failed, text = 1, err.Error()
	}
	bytes := []byte(text)
	room := realloc(0, 0, 1, uint32(len(bytes)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(uintptr(room))), len(bytes)), bytes)
	returned.text = span{room, uint32(len(bytes))}
	return uint32(uintptr(unsafe.Pointer(&returned)))
}
