import { expect, test } from 'vitest'
import { version } from '../../../package.json'
import { svc as built } from '../../e2e/processes.ts'

test.each([['--version'], ['-v'], ['-V']])('svc %s prints the version', async (word) => {
  expect(await built([word])).toEqual({ exit: 0, stdout: `svc ${version}\n`, stderr: '' })
})
