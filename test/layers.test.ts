import { describe, expect, test } from 'vitest'
import { badName, climbs, cycles, entry, floors, roomOf, speaksDialect, violations } from './layers.ts'
import { readSource, sourceTree, type Source } from './source-tree.ts'

const sources = sourceTree()

describe('the source tree', () => {
  test('imports only what the layers allow', () => {
    expect(violations(sources)).toEqual([])
  })

  test('imports inside a room only from a lower floor', () => {
    expect(climbs(sources)).toEqual([])
  })

  test.each(Object.entries(floors))('%s has at most 20 entries and 9 floors', (_, plan) => {
    expect(plan.flat().length).toBeLessThanOrEqual(20)
    expect(plan.length).toBeLessThanOrEqual(9)
    expect(new Set(plan.flat()).size).toBe(plan.flat().length)
  })

  test('has no import cycle', () => {
    expect(cycles(sources)).toEqual([])
  })

  test('uses a dialect of SQL only in the storage', () => {
    expect(sources.filter(speaksDialect).map(({ file }) => file)).toEqual([])
  })

  test('keeps every file under 250 lines', () => {
    expect(sources.filter(({ lines }) => lines >= 250).map(({ file }) => file)).toEqual([])
  })

  test('names files with kebab-case nouns, and none with a vague word', () => {
    expect(sources.map(({ file }) => file).filter(badName)).toEqual([])
  })

  test('is really read: every room has files, and the entry imports the command line', () => {
    const seen = new Set(sources.map(({ file }) => roomOf(file)))
    for (const room of ['core', 'contract', 'receipt', 'client', 'service', 'cli'])
      expect(seen).toContain(room)
    expect(sources.find(({ file }) => file === entry)?.imports).not.toEqual([])
  })
})

const namedByLetter = (texts: string[]): Source[] =>
  texts.map((text, i) => readSource(`src/core/${'abcd'[i]}.ts`, text))

describe('the check itself', () => {
  test.each([
    ['src/core/clock.ts', `import { table } from '../contract/table.ts'`],
    ['src/core/clock.ts', `import chalk from 'chalk'`],
    ['src/contract/user.ts', `import { readFileSync } from 'node:fs'`],
    ['src/contract/user.ts', `import * as z from 'zod'`],
    ['src/client/client.ts', `import type { Db } from '../service/storage/schema.ts'`],
    ['src/client/client.ts', `export * from '../cli/terminal/io.ts'`],
    ['src/service/app.ts', `const io = await import('../cli/terminal/io.ts')`],
    ['src/service/app.ts', `import express from 'express'`],
    ['src/cli/operation/api.ts', `const app = await import('../../service/app.ts')`],
    ['src/cli/serve/serve-command.ts', `import { startService } from '../../service/serve.ts'`],
    ['src/stray/thing.ts', `import '../core/ids.ts'`],
    ['src/main.ts', `import '../src/service/lifecycle/serve.ts'`],
  ])('rejects in %s: %s', (file, text) => {
    expect(violations([readSource(file, text)])).toHaveLength(1)
  })

  test.each([
    ['src/cli/serve/serve-command.ts', `await import('../../service/serve.ts')`],
    ['src/service/app.ts', `import { Hono } from 'hono'; import '../client/request.ts'`],
  ])('accepts in %s: %s', (file, text) => {
    expect(violations([readSource(file, text)])).toEqual([])
  })

  test.each([
    ['src/service/call/run.ts', `import { x } from '../limits/claims.ts'`],
    ['src/service/keys/rows.ts', `import type { X } from '../limits/claims.ts'`],
    ['src/service/http/app.ts', `await import('../mcp/http.ts')`],
    ['src/service/loose.ts', ''],
    ['src/service/strange/file.ts', ''],
  ])('finds the upward import in %s: %s', (file, text) => {
    expect(climbs([readSource(file, text)])).toHaveLength(1)
  })

  test.each([
    ['src/service/limits/claims.ts', `import { x } from '../call/run.ts'`],
    ['src/service/keys/rows.ts', `import { x } from './scopes.ts'`],
    ['src/service/keys/rows.ts', `import { x } from '../../core/ids.ts'`],
  ])('accepts the downward import of %s: %s', (file, text) => {
    expect(climbs([readSource(file, text)])).toEqual([])
  })

  test('finds a cycle of types, and none in a diamond', () => {
    const [a, b] = [`import type { B } from './b.ts'`, `import { c } from './c.ts'`]
    expect(cycles(namedByLetter([a, b, `import type { A } from './a.ts'`]))).toEqual([
      ['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts', 'src/core/a.ts'],
    ])
    const diamond = `import './b.ts'; import './c.ts'`
    expect(cycles(namedByLetter([diamond, `import './d.ts'`, `import './d.ts'`, '']))).toEqual([])
  })

  test('finds an SQL dialect word, a vague name and a name that is not in kebab case', () => {
    expect(speaksDialect(readSource('src/cli/terminal/io.ts', `const file = 'sqlite.db'`))).toBe(true)
    expect(
      ['src/core/utils.ts', 'src/cli/index.ts', 'src/cli/helpers/a.ts', 'src/core/safeText.ts'].map(badName),
    ).toEqual([true, true, true, true])
  })
})
