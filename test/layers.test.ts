import { describe, expect, test } from 'vitest'
<<<<<<< HEAD
import { badName, climbs, cycles, entry, floors, roomOf, speaksDialect, violations } from './layers.ts'
import { readSource, sourceTree, type Source } from './source-tree.ts'
=======
import { readSource, sourceTree, type Import, type Source } from './source-tree.ts'

// The layers of docs/architecture.md. Only what is listed here may be imported.
const rooms: Record<string, { rooms: string[]; packages: string[]; node: boolean }> = {
  core: { rooms: [], packages: [], node: true },
  contract: { rooms: ['core'], packages: ['zod/mini'], node: false },
  rules: { rooms: ['core'], packages: ['ipaddr.js', 'libphonenumber-js', 'luxon'], node: false },
  receipt: {
    rooms: ['core'],
    packages: ['@levischuck/tiny-cbor', '@simplewebauthn/server', 'canonicalize', 'jose', 'zod/mini'],
    node: true,
  },
  client: {
    rooms: ['contract', 'core'],
    packages: [
      '@levischuck/tiny-cbor',
      '@modelcontextprotocol/client',
      '@simplewebauthn/server',
      'ipaddr.js',
      'undici',
      'zod/mini',
    ],
    node: true,
  },
  approver: { rooms: ['contract'], packages: ['@simplewebauthn/browser'], node: false },
  service: {
    rooms: ['contract', 'rules', 'receipt', 'client', 'core'],
    packages: [
      '@hono/node-server',
      '@simplewebauthn/server',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server',
      'canonicalize',
      'hono',
      'http_ece',
      'ipaddr.js',
      'jose',
      'kysely',
      'libsql',
      'pg',
      'luxon',
      'nodemailer',
      'yaml',
      'zod/mini',
    ],
    node: true,
  },
  cli: {
    rooms: ['contract', 'rules', 'receipt', 'client', 'core'],
    packages: [
      '@inquirer/prompts',
      'chalk',
      'cli-table3',
      'commander',
      'conf',
      'csv-parse',
      'csv-stringify',
      'ipaddr.js',
      'jq-wasm',
      'string-width',
      'uqr',
      'yaml',
      'zod/mini',
    ],
    node: true,
  },
}
// From the bottom up: an import goes to its own entry or to a lower floor.
const floors: Record<string, string[][]> = {
  service: [
    ['config', 'storage'],
    ['call'],
    ['keys', 'limits', 'policy'],
    ['custody', 'delivery', 'devices', 'machines'],
    ['approvals', 'members'],
    ['approver', 'mobile', 'push', 'verifications'],
    ['handlers', 'http'],
    ['mcp'],
    ['lifecycle'],
  ],
  cli: [
    ['terminal'],
    ['context'],
    ['program'],
    ['operation'],
    ['api.ts', 'approve', 'audit.ts', 'declare', 'demo', 'key.ts', 'notify.ts', 'profile'],
    ['auth.ts', 'bulk', 'completion', 'doctor', 'mcp', 'serve'],
    ['picture'],
    ['main.ts'],
  ],
}
const doors = new Set(
  ['serve/serve-command', 'serve/service-command', 'demo/command', 'mcp/command'].map(
    (name) => `src/cli/${name}.ts`,
  ),
)
const entry = 'src/main.ts'

const roomOf = (file: string): string => file.split('/')[1] ?? ''

const allowed = ({ from, to, dynamic }: Import): boolean => {
  const room = rooms[roomOf(from)]
  if (from === entry) return roomOf(to) === 'cli' || to === 'package.json'
  if (!room) return false
  if (to === 'package.json') return roomOf(from) === 'cli'
  if (to.startsWith('node:')) return room.node
  if (!to.startsWith('src/')) return room.packages.some((name) => to === name || to.startsWith(`${name}/`))
  if (doors.has(from) && roomOf(to) === 'service') return dynamic
  return roomOf(to) === roomOf(from) || room.rooms.includes(roomOf(to))
}

const violations = (sources: Source[]): string[] =>
  sources
    .flatMap((source) => source.imports)
    .filter((one) => !allowed(one))
    .map((one) => `${one.from} -> ${one.to}`)

const entryOf = (file: string): string => file.split('/')[2] ?? ''

/** Imports between the entries of a room that go up or sideways, and entries that no floor lists. */
const climbs = (sources: Source[]): string[] =>
  Object.entries(floors).flatMap(([room, plan]) => {
    const floorOf = (file: string): number => plan.findIndex((entries) => entries.includes(entryOf(file)))
    const inside = sources.filter(({ file }) => roomOf(file) === room)
    const homeless = inside.filter(({ file }) => floorOf(file) === -1).map(({ file }) => file)
    const up = inside
      .flatMap(({ imports }) => imports)
      .filter(({ from, to }) => roomOf(to) === room && to.startsWith('src/') && entryOf(from) !== entryOf(to))
      .filter(({ from, to }) => floorOf(to) >= floorOf(from))
      .map(({ from, to }) => `${from} -> ${to}`)
    return homeless.concat(up)
  })

/** Files that import each other, directly or not. Type imports count. */
const cycles = (sources: Source[]): string[][] => {
  const next = new Map(sources.map(({ file, imports }) => [file, imports.map(({ to }) => to)]))
  const done = new Set<string>()
  const found: string[][] = []
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file])
    if (path.includes(file) || done.has(file)) return
    for (const to of next.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const { file } of sources) visit(file, [])
  return found
}

// The code that starts the service names the store that it opens, and nothing more.
const speaksDialect = ({ file, text }: Source): boolean =>
  !file.startsWith('src/service/storage/') &&
  /sqlite|libsql|postgres/i.test(
    text.replaceAll(
      /open(?:Sqlite|Postgres)\b|\/storage\/(?:sqlite|postgres)\/|PostgreSQL|postgres:\/\//g,
      '',
    ),
  )

const vagueName = /(?:^|\/)(?:utils?|helpers?|common|managers?|index|misc|shared)(?:\.ts|\/)/
const badName = (file: string): boolean =>
  vagueName.test(file) || !/^src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+(?:\.d)?\.ts$/.test(file)
>>>>>>> 1d6df05d (feat(serve): run several nodes on one PostgreSQL database)

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
    ['src/cli/api.ts', `const app = await import('../service/app.ts')`],
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
