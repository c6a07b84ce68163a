import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse as parseCsv } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { readCell } from '../../../src/cli/terminal/render.ts'
import { formats } from '../../../src/cli/terminal/output.ts'
import { answerFieldsWith } from '../../../src/contract/describe.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json, startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { isWhole, rowsToRun } from '../../whole.ts'
import { answerTo, personalText } from './sample.ts'
import { argvOf, isMeant, operations } from './typed-operations.ts'
import { svc } from '../svc.ts'

// Every command of the table in every format, on a terminal and piped. Commands, arguments and responses are generated
// from the table, so a new operation is covered without a line here.

let service: FakeHosted
const folder = temporaryFolder()
const secretFile = join(folder.path, 'secret.txt')
writeFileSync(secretFile, 'a-secret-that-is-long-enough\n')
beforeAll(async () => {
  service = await startFakeHosted()
})
afterAll(async () => {
  await service.close()
  folder.remove()
})

/** What each operation was answered last. */
const answered = new Map<Operation, unknown>()
const payloadOf = (operation: Operation): unknown =>
  answered.get(operation) ?? { status: 'success', message: operation.message }

/** Answers every operation with its sample, except `failing`, which is not found. */
const answering = (failing?: Operation): void =>
  service.always((request, response) => {
    const operation = Object.values(table as Record<string, Operation>).find((one) => isMeant(one, request))
    if (!operation || operation === failing)
      return json(404, { status: 'error', message: 'Not found' })(request, response)
    const data = answerTo(operation, request)
    answered.set(operation, data)
    const message = operation.message
    json(200, { status: 'success', message, ...(data === undefined ? {} : { data }) })(request, response)
  })

const typing = (argv: string[], tty: boolean) =>
  svc(argv, {
    tty,
    columns: 120,
    cwd: folder.path,
    env: {
      NO_COLOR: '1',
      SVC_CONFIG_DIR: folder.path,
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: 'svc_op_1a2b3c4d_key',
    },
  })

/** What a terminal must never receive: control characters except newline and tab, invisible and bidirectional characters. */
const unsafe = /[^\P{Cc}\n\t]|\p{Cf}|\p{Zl}|\p{Zp}/u
const lines = (text: string): string[] => text.split('\n').slice(0, -1)
const listed = (payload: unknown): unknown[] => (Array.isArray(payload) ? payload : [payload])
const hasId = (row: unknown): boolean =>
  ['id', 'request_id', 'message_id', 'webhook_id', 'mute_id', 'user_id'].some((name) => name in Object(row))

/** Whether the output in each format parses to the response. Piped output is complete. */
const reads: Record<string, (out: string, payload: unknown) => boolean> = {
  json: (out, payload) => isDeepStrictEqual(JSON.parse(out), payload),
  yaml: (out, payload) => isDeepStrictEqual(parseYaml(out), payload),
  ndjson: (out, payload) =>
    isDeepStrictEqual(
      lines(out).map((line) => JSON.parse(line) as unknown),
      listed(payload),
    ),
  csv: (out, payload) => {
    const rows = parseCsv(out, { columns: true }) as Record<string, string>[]
    const first = Object.entries(Object(listed(payload)[0]) as object)
    const isSame = ([name, value]: [string, unknown]): boolean =>
      typeof value === 'object' || readCell(rows[0]?.[name] ?? '') === String(value)
    return rows.length === listed(payload).length && first.every(isSame)
  },
  tsv: (out, payload) => {
    const widths = lines(out).map((line) => line.split('\t').length)
    return new Set(widths).size <= 1 && (!Array.isArray(payload) || widths.length === payload.length)
  },
  id: (out, payload) => lines(out).length === listed(payload).length,
  table: (out) => lines(out).length > 0,
}

/** Masked values that appear in the text. */
const readable = (out: string): string[] => Object.values(personalText).filter((text) => out.includes(text))

/** In a pipe too, these say on standard error what ends, what still works, and what a rule leaves open. */
const saysMore = new Set(['key rotate', 'key revoke', 'user devices revoke', 'rule create'])

/** What is wrong with the output in one format, or nothing. */
const faultsOf = async (operation: Operation, format: string, tty: boolean): Promise<string[]> => {
  const { exit, out, err } = await typing([...argvOf(operation, secretFile), '-o', format], tty)
  const payload = payloadOf(operation)
  if (format === 'id' && !listed(payload).every(hasId)) {
    const expected = operation.effect === 'read' ? 1 : 2
    return exit === expected && out === '' && err.includes('no id')
      ? []
      : [`no id, and still ${exit}: ${out}`]
  }
  // CSV and YAML cannot express unsafe characters that must not be raw.
  const isWhole = !tty || !['csv', 'yaml'].includes(format)
  // On standard error, svc says in any format that it asked this person before.
  const isLost = format === 'id' && answerFieldsWith(operation, 'secret').size > 0
  const isQuiet =
    tty ||
    operation.effect === 'notifies' ||
    saysMore.has(operation.cli) ||
    (isLost ? err.includes('Not printed') : err === '')
  return [
    ...(exit === 0 ? [] : [`exit ${exit}: ${err}`]),
    ...(isQuiet ? [] : [`stderr: ${err}`]),
    ...(out.endsWith('\n') ? [] : ['no newline at the end']),
    ...(!isWhole || reads[format]!(out, payload) ? [] : [`reads back otherwise: ${out}`]),
    ...((tty || format === 'table') && unsafe.test(out) ? [`unsafe: ${JSON.stringify(out)}`] : []),
    ...(tty && format === 'table' ? readable(out).map((text) => `not masked: ${text}`) : []),
  ]
}

/** For people and for scripts: these depend most on the operation. */
const own = ['table', 'id'] as const
const others = formats.filter((format) => !own.some((one) => one === format))

const turns = operations.map(([words, operation], turn) => [words, operation, turn] as const)
describe.each(turns)('%s', (_, operation, turn) => {
  const argv = argvOf(operation, secretFile)
  /** One of them for each operation, in turn. */
  const inTurn = <T>(all: readonly T[]): T[] => rowsToRun(all, (_, at) => at === turn % all.length)

  test.each([...own, ...inTurn(others)])('in -o %s', async (format) => {
    answering()
    expect(await faultsOf(operation, format, false)).toEqual([])
    expect(await faultsOf(operation, format, true)).toEqual([])
  })

  test('selects with --reveal and --jq without a format', async () => {
    answering()
    const terminal = await typing(argv, true)
    expect(terminal.exit).toBe(0)
    expect(terminal.out).not.toMatch(unsafe)
    expect(readable(terminal.out)).toEqual([])

    const revealed = await typing([...argv, '--reveal'], true)
    const piped = await typing([...argv, '-o', 'table'], false)
    expect(readable(revealed.out)).toEqual(readable(piped.out))

    const payload = payloadOf(operation)
    const filtered = await typing([...argv, '--jq', '.'], false)
    expect(JSON.parse(filtered.out)).toEqual(payload)
  })

  const faults: [string, string[]][] = [
    ['an invalid filter', ['--jq', '.[']],
    ['an unknown format', ['-o', 'xml']],
    ['a format that --jq cannot be combined with', ['--jq', '.', '-o', 'csv']],
  ]
  test.each(inTurn(faults))('sends nothing for %s', async (_fault, flags) => {
    answering()
    const sent = service.seen.length
    const { exit, out } = await typing([...argv, ...flags], false)
    expect({ exit, out, sent: service.seen.length - sent }).toEqual({ exit: 2, out: '', sent: 0 })
  })

  const filters = isWhole || turn % 3 === 0
  test.runIf(filters && operation.effect === 'read')('exits 1 when a filter fails', async () => {
    answering()
    const { exit, out } = await typing([...argv, '--jq', 'error("no")'], false)
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
  })

  test.runIf(filters && operation.effect !== 'read')(
    'reports success when a filter then fails, and prints the complete response',
    async () => {
      answering()
      const { exit, out, err } = await typing([...argv, '--jq', 'error("no")'], false)
      expect({ exit, answer: JSON.parse(out) as unknown }).toEqual({
        exit: 11,
        answer: payloadOf(operation),
      })
      expect(JSON.parse(lines(err).at(-1)!)).toMatchObject({ code: 'not_shown' })
    },
  )

  test('reports an error of the service', async () => {
    answering(operation)
    for (const tty of [false, true]) {
      const plain = await typing(argv, tty)
      expect({ exit: plain.exit, out: plain.out }).toEqual({ exit: 5, out: '' })
      const machine = await typing([...argv, '-o', 'json'], tty)
      expect({ exit: machine.exit, out: machine.out }).toEqual({ exit: 5, out: '' })
      expect(JSON.parse(lines(machine.err).at(-1)!)).toMatchObject({
        code: expect.any(String),
        message: 'Not found',
      })
    }
  })

  test.runIf(operation.effect !== 'read')('sends nothing with --dry-run', async () => {
    answering()
    const sent = service.seen.length
    const { exit, out } = await typing([...argv, '--dry-run', '-o', 'json'], false)
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ method: operation.method, url: expect.any(String) })
    expect(service.seen.slice(sent).filter((request) => isMeant(operation, request))).toEqual([])
    const shown = await typing([...argv, '--dry-run'], true)
    expect(shown.out).not.toMatch(unsafe)
    expect(shown.out).not.toContain('a-secret-that-is-long-enough')
  })
})
