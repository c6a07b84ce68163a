import { expect, test } from 'vitest'
import { groups } from '../../../src/cli/main.ts'
import { headings } from '../../../src/cli/program/program.ts'
import { svc } from '../svc.ts'

test('svc --help lists each command once, under a heading', async () => {
  expect(Object.values(headings).flat().toSorted()).toEqual(Object.keys(groups).toSorted())
  const { out } = await svc('--help')
  for (const [heading, [first]] of Object.entries(headings))
    expect(out).toContain(`\n${heading}:\n  ${first}`)
  expect(out).not.toContain('Commands:')
})

test('svc approve --help begins with what most people need', async () => {
  expect((await svc('approve --help')).out).toMatch(/Commands:\n {2}request .*\n(?: {3,}.*\n)* {2}run /)
})

test.each([
  ['org create', false],
  ['user create', false],
  ['user delete', false],
  ['org update', true],
  ['user details', true],
  ['api', true],
])('svc %s takes body fields: %s', async (words, takes) => {
  expect(/--raw-field.*--field.*--input/s.test((await svc(`${words} --help`)).out)).toBe(takes)
})

test('only svc org update lists the flags of the policy', async () => {
  for (const [words, lists] of [
    ['org create', false],
    ['org onboard', false],
    ['org update', true],
  ] as const)
    expect((await svc(`${words} --help`)).out.includes('--require-number')).toBe(lists)
})
