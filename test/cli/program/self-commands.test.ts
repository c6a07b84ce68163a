import { expect, test } from 'vitest'
import { version } from '../../../package.json'
import { svc as built } from '../../e2e/processes.ts'
import { svc } from '../svc.ts'

test.each([['--version'], ['-v'], ['-V'], ['version']])('svc %s prints the version', async (word) => {
  expect(await built([word])).toEqual({ exit: 0, stdout: `svc ${version}\n`, stderr: '' })
})

test('svc version -o json prints an object', async () => {
  const { exit, data } = await svc('version -o json')
  expect([exit, data()]).toEqual([0, { version, node: process.version }])
})
