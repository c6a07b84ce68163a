import { expect, test } from 'vitest'
import { stepsOf } from './doc-page.ts'

const step = { hidden: false, terminal: 'main', expected: [], keys: [] }

test('reads the commands of a page in order, including hidden ones', () => {
  const page = '<!-- $ svc one -->\n```console\n$ svc two \\\n>   --three\nfour\n$ svc five\n```\nsix\n'
  expect(stepsOf(page)).toEqual([
    { ...step, line: 1, command: 'svc one', hidden: true },
    { ...step, line: 3, command: 'svc two \\\n  --three', expected: ['four'] },
    { ...step, line: 6, command: 'svc five' },
  ])
})

test('an empty line of a here-document belongs to its command', () => {
  const page = "```console\n$ cat > a <<'END'\n> one\n>\n> two\n> END\n$ cat a\n```\n"
  expect(stepsOf(page)).toEqual([
    { ...step, line: 2, command: "cat > a <<'END'\none\n\ntwo\nEND" },
    { ...step, line: 7, command: 'cat a' },
  ])
})

test('continues a command in a later block of its terminal', () => {
  const page =
    '```console\n$ svc ask\nasked\n```\n```console ada\n$ svc inbox\n```\n```console\napproved\n```\n'
  expect(stepsOf(page)).toEqual([
    { ...step, line: 2, command: 'svc ask', expected: ['asked'], later: ['approved'] },
    { ...step, line: 6, command: 'svc inbox', terminal: 'ada' },
  ])
})

test('types keys when the screen shows their question, and replaces the command in pipes', () => {
  const page =
    '```console\n$ svc inbox\n```\n<!-- at "Your decision": Down Enter -->\n<!-- piped: svc deny -->\n'
  expect(stepsOf(page)).toEqual([
    {
      ...step,
      line: 2,
      command: 'svc inbox',
      keys: [{ at: /Your decision/, keys: '\u001b[B\r' }],
      piped: 'svc deny',
    },
  ])
})
