import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { version } from '../../../package.json'
import { svc as built } from '../../e2e/processes.ts'

// Without git, a build has no commit.
const commitOf = existsSync('.git') ? /^\([0-9a-f]{8,}(-dirty)?\)$/ : /^$/

test.each([['--version'], ['-v'], ['-V']])('svc %s prints the version and its commit', async (word) => {
  const { exit, stdout, stderr } = await built([word])
  expect([exit, stderr]).toEqual([0, ''])
  const [name, number, commit = '', ...rest] = stdout.trimEnd().split(' ')
  expect([name, number, rest]).toEqual(['svc', version, []])
  expect(commit).toMatch(commitOf)
})
