import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, expectTypeOf, test } from 'vitest'
import type * as packed from '../../dist/library/svc.cjs'
import type * as source from '../../src/library/svc.ts'
import { root } from '../source-tree.ts'

const run = promisify(execFile)
const library = join(root, 'dist', 'library')

test('contains no module of the command line or of the service', async () => {
  const script = `import { libraryFiles } from ${JSON.stringify(join(root, 'scripts', 'library.mjs'))}
    console.log(JSON.stringify((await libraryFiles()).modules))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  const modules = JSON.parse(stdout) as Record<string, string[]>
  const all = Object.values(modules).flat()
  const own = all.filter((id) => id.startsWith('src/'))
  expect(new Set(own.map((id) => id.split('/')[1]))).toEqual(
    new Set(['asking', 'client', 'contract', 'core', 'library', 'receipt']),
  )
  const packages = all.flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [])
  for (const name of ['commander', '@inquirer/prompts', 'hono', 'kysely', 'conf', 'chalk', 'yaml'])
    expect(packages).not.toContain(name)
  expect(packages).toContain('undici')
})

// A time would depend on the load of the machine. What is loaded decides it.
test('an import loads two small files and nothing else', async () => {
  const script = `
    const builtins = process.moduleLoadList.length
    const library = require(${JSON.stringify(join(library, 'svc.cjs'))})
    const loaded = Object.keys(require.cache).map((file) => [file, require('fs').statSync(file).size])
    console.log(JSON.stringify({ loaded, names: Object.keys(library), slow: process.moduleLoadList.slice(builtins) }))`
  const { stdout } = await run(process.execPath, ['-e', script])
  const { loaded, names, slow } = JSON.parse(stdout) as {
    loaded: [string, number][]
    names: string[]
    slow: string[]
  }
  expect(names.toSorted()).toEqual(['SvcError', 'createClient', 'verifyReceipt', 'watchApproval'])
  expect(loaded.every(([file]) => file.startsWith(library))).toBe(true)
  expect(loaded.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(40_000)
  expect(slow.filter((name) => /crypto|tls|http|zlib|undici/.test(name))).toEqual([])
})

test('an import and a require share one class of errors', async () => {
  const script = `
    import { createRequire } from 'node:module'
    import { SvcError } from ${JSON.stringify(join(library, 'svc.mjs'))}
    const required = createRequire(import.meta.url)(${JSON.stringify(join(library, 'svc.cjs'))})
    console.log(required.SvcError === SvcError)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  expect(stdout).toBe('true\n')
})

test('an error shows the name of its class', async () => {
  const script = `
    const { createClient, SvcError } = require(${JSON.stringify(join(library, 'svc.cjs'))})
    const shown = new SvcError('failed', 'x', 'It failed')
    const client = createClient({ baseUrl: 'http://127.0.0.1:1/admin/public/api', apiKey: 'svc_op_x' })
    console.log(shown, SvcError.name, String(shown))
    client.listOrganizations().catch((error) => console.log(error))`
  const { stdout } = await run(process.execPath, ['-e', script])
  expect(stdout).toMatch(/^SvcError: It failed\n {4}at /)
  expect(stdout).toContain(' SvcError SvcError: It failed\nSvcError: Nothing answers at 127.0.0.1:1')
  expect(stdout).not.toContain('[SvcError]')
})

// Node prints the line of source that threw.
test('an error that a program does not catch prints no source code', async () => {
  const script = `
    import { createClient } from ${JSON.stringify(join(library, 'svc.mjs'))}
    const client = createClient({ baseUrl: 'http://127.0.0.1:1/admin/public/api', apiKey: 'svc_op_x' })
    await client.listOrganizations()`
  const failure = (await run(process.execPath, ['--input-type=module', '-e', script]).catch(
    (error: unknown) => error,
  )) as { stderr: string }
  expect(failure.stderr).toContain('SvcError: Nothing answers at 127.0.0.1:1')
  expect(failure.stderr).not.toMatch(/.{300}/)
})

// tsc checks these; the types of the package are written by another program than the types of the source.
test('the types of the package are the types of the source', () => {
  expectTypeOf<packed.Client>().toExtend<source.Client>()
  expectTypeOf<source.Client>().toExtend<packed.Client>()
  expectTypeOf<keyof packed.Operations>().toEqualTypeOf<keyof source.Operations>()
  expectTypeOf<packed.WatchedApproval>().toExtend<source.WatchedApproval>()
  expectTypeOf<source.WatchedApproval>().toExtend<packed.WatchedApproval>()
  expectTypeOf<packed.ReceiptVerification>().toEqualTypeOf<source.ReceiptVerification>()
  expectTypeOf<packed.Expectations>().toEqualTypeOf<source.Expectations>()
  expectTypeOf<typeof packed>().toExtend<typeof source>()
  // A type that could not be followed would be `any`, which extends everything.
  expectTypeOf<packed.Client['createGeofence']>().not.toBeAny()
  expectTypeOf<packed.ApprovalRequest>().not.toBeAny()
  const types = readFileSync(join(library, 'svc.d.cts'), 'utf8')
  expect(types).not.toMatch(/: any\b|^import |\bsrc\/|\.ts['"]/m)
})
