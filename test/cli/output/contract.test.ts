import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseCsv } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { groups } from '../../../src/cli/groups.ts'
import { run } from '../../../src/cli/main.ts'
import { formats } from '../../../src/cli/output/output.ts'
import { argsOf, fieldsOf, type Field } from '../../../src/contract/describe.ts'
import { orgFields, type Operation } from '../../../src/contract/operation.ts'
import { table } from '../../../src/contract/table.ts'
import { temporaryFolder } from '../../e2e/processes.ts'
import { json, startFakeHosted, type FakeHosted, type Seen } from '../../fake-hosted.ts'
import { memoryIo } from '../memory-io.ts'
import { personalText, sampleData } from './sample.ts'

// Every command of the table in every format, on a terminal and piped. Commands, arguments and answers come from the
// table: a new operation is looked at without a line here.

const operations = Object.entries(table as Record<string, Operation>).filter(
  ([, { cli }]) => cli.split(' ')[0]! in groups,
)

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

/** Words of an example as a shell has them, up to where the shell itself goes on. */
const words = (example: string): string[] =>
  [...example.split(/ [>|] /)[0]!.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain!,
  )

const valueOf = ({ kind, choices, meta, flag }: Field): string => {
  const example = meta.examples?.[0] ?? choices[0] ?? (kind === 'integer' || kind === 'number' ? 7 : 'x')
  if (flag === 'org') return '1'
  if (kind === 'json') return JSON.stringify(typeof example === 'object' ? example : {})
  return Array.isArray(example) ? example.join(',') : String(example)
}

/** What to type: the example; where there is none, what is required. Whatever rings or deletes is not asked about. */
const argvOf = (operation: Operation): string[] => {
  const typed = operation.example
    ? words(operation.example)
    : fieldsOf(operation)
        .filter(({ required, name }) => required || orgFields.includes(name))
        .flatMap((field) =>
          argsOf(operation).includes(field.name)
            ? [valueOf(field)]
            : [`--${field.flag}`, ...(field.kind === 'boolean' ? [] : [valueOf(field)])],
        )
  const files = new Set(fieldsOf(operation).flatMap(({ meta, flag }) => (meta.secret ? [`--${flag}`] : [])))
  const argv = typed.map((word, i) => (files.has(typed[i - 1] ?? '') ? secretFile : word))
  const sure = operation.effect === 'delete' && !argv.includes('--yes') ? ['--yes'] : []
  return [...operation.cli.split(' '), ...argv, ...sure]
}

const isMeant = (operation: Operation, { method, path }: Seen): boolean => {
  const below = operation.path.startsWith('/svc/v1/') ? operation.path : `/admin/public/api${operation.path}`
  const pattern = below
    .split('/')
    .map((part) => (part.startsWith('{') ? '[^/?]+' : part))
    .join('/')
  return operation.method === method && new RegExp(`^${pattern}(?:\\?|$)`).test(path)
}

/** Every operation is answered by its sample; with `failing`, this one is not found. */
const answering = (failing?: Operation): void =>
  service.always((request, response) => {
    const operation = Object.values(table as Record<string, Operation>).find((one) => isMeant(one, request))
    if (!operation || operation === failing)
      return json(404, { status: 'error', message: 'Not found' })(request, response)
    const data = sampleData(operation)
    const message = operation.message
    json(200, { status: 'success', message, ...(data === undefined ? {} : { data }) })(request, response)
  })

const typing = async (argv: string[], tty: boolean) => {
  const io = memoryIo({
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
  const exit = await run(argv, io)
  return { exit, out: io.out(), err: io.err() }
}

/** What a terminal must never get: controls but newline and tab, and what is invisible or turns text round. */
const unsafe = /[^\P{Cc}\n\t]|\p{Cf}|\p{Zl}|\p{Zp}/u
const lines = (text: string): string[] => text.split('\n').slice(0, -1)
const listed = (payload: unknown): unknown[] => (Array.isArray(payload) ? payload : [payload])
const hasId = (row: unknown): boolean =>
  ['id', 'request_id', 'message_id'].some((name) => name in Object(row))

/** How each format reads back; what is piped is complete. */
const reads: Record<string, (out: string, payload: unknown) => void> = {
  json: (out, payload) => expect(JSON.parse(out)).toEqual(payload),
  yaml: (out, payload) => expect(parseYaml(out)).toEqual(payload),
  ndjson: (out, payload) => expect(lines(out).map((line) => JSON.parse(line))).toEqual(listed(payload)),
  csv: (out, payload) => {
    const rows = parseCsv(out, { columns: true }) as Record<string, string>[]
    expect(rows).toHaveLength(listed(payload).length)
    for (const [name, value] of Object.entries(Object(listed(payload)[0])))
      if (typeof value !== 'object') expect(rows[0]![name]).toBe(String(value))
  },
  tsv: (out, payload) => {
    const rows = lines(out).map((line) => line.split('\t'))
    expect(new Set(rows.map((row) => row.length)).size).toBeLessThanOrEqual(1)
    if (Array.isArray(payload)) expect(rows).toHaveLength(payload.length)
  },
  id: (out, payload) => expect(lines(out)).toHaveLength(listed(payload).length),
  table: (out) => expect(lines(out).length).toBeGreaterThan(0),
}

/** Of what is masked, what stands somewhere in the text. */
const readable = (out: string): string[] => Object.values(personalText).filter((text) => out.includes(text))

describe.each(operations)('%s', (_, operation) => {
  const argv = argvOf(operation)
  const data = sampleData(operation)
  const payload = data ?? { status: 'success', message: operation.message }

  it.each(formats)('in -o %s', async (format) => {
    answering()
    for (const tty of [false, true]) {
      const { exit, out, err } = await typing([...argv, '-o', format], tty)
      if (format === 'id' && !listed(payload).every(hasId)) {
        expect({ exit, out }).toEqual({ exit: 1, out: '' })
        expect(err).toContain('no id')
        continue
      }
      expect(exit).toBe(0)
      // Before it rings again, svc says so, whatever the format: on stderr.
      if (!tty && operation.effect !== 'rings') expect(err).toBe('')
      // Where nothing unsafe may stand raw, CSV and YAML cannot say it otherwise.
      const isWhole = !tty || !['csv', 'yaml'].includes(format)
      if (isWhole) reads[format]!(out, payload)
      expect(out.endsWith('\n')).toBe(true)
      if (tty || format === 'table') expect(out).not.toMatch(unsafe)
      if (format === 'table') expect(tty ? readable(out) : []).toEqual([])
    }
  })

  it('without a format, with --reveal, --envelope, --json and --jq', async () => {
    answering()
    const terminal = await typing(argv, true)
    expect(terminal.exit).toBe(0)
    expect(terminal.out).not.toMatch(unsafe)
    expect(readable(terminal.out)).toEqual([])

    const revealed = await typing([...argv, '--reveal'], true)
    expect(readable(revealed.out).length).toBeGreaterThanOrEqual(
      readable((await typing([...argv, '-o', 'table'], false)).out).length,
    )

    const whole = await typing([...argv, '--envelope'], false)
    expect(JSON.parse(whole.out)).toMatchObject({ status: 'success', message: expect.any(String) })

    const fields = Object.keys(Object(listed(payload)[0]))
    if (fields.length > 0) {
      const { out } = await typing([...argv, '--json', fields[0]!], false)
      for (const row of listed(JSON.parse(out))) expect(Object.keys(Object(row))).toEqual([fields[0]])
    }
    const unknown = await typing([...argv, '--json', 'nosuch'], false)
    expect({ exit: unknown.exit, out: unknown.out }).toEqual({ exit: 2, out: '' })

    const filtered = await typing([...argv, '--jq', '.'], false)
    expect(JSON.parse(filtered.out)).toEqual(payload)
  })

  it('when the service says no', async () => {
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

  it.runIf(operation.effect !== 'read')('with --dry-run sends nothing', async () => {
    answering()
    const sent = service.seen.length
    const { exit, out } = await typing([...argv, '--dry-run', '-o', 'json'], false)
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ method: operation.method, curl: expect.any(String) })
    expect(service.seen.slice(sent).filter((request) => isMeant(operation, request))).toEqual([])
    const shown = await typing([...argv, '--dry-run'], true)
    expect(shown.out).not.toMatch(unsafe)
    expect(shown.out).not.toContain('a-secret-that-is-long-enough')
  })
})
