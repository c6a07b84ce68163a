import { expect, test } from 'vitest'
import { version } from '../../../package.json'
import { run } from '../../../src/cli/main.ts'
import { svc } from '../../e2e/processes.ts'
import { memoryIo } from '../memory-io.ts'

test.each([['--version'], ['-v'], ['-V'], ['version']])('svc %s prints the version', async (word) => {
  expect(await svc([word])).toEqual({ exit: 0, stdout: `svc ${version}\n`, stderr: '' })
})

test('svc version -o json has it as data', async () => {
  const io = memoryIo()
  expect(await run(['version', '-o', 'json'], io)).toBe(0)
  expect(JSON.parse(io.out())).toEqual({ version, node: process.version })
})
