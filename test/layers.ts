import type { Import, Source } from './source-tree.ts'

// The layers of docs/architecture.md. Only what is listed here may be imported.
const rooms: Record<string, { rooms: string[]; packages: string[]; node: boolean }> = {
  core: { rooms: [], packages: [], node: true },
  contract: { rooms: ['core'], packages: ['zod/mini'], node: false },
  factors: { rooms: ['core'], packages: ['ipaddr.js', 'libphonenumber-js', 'luxon'], node: false },
  receipt: {
    rooms: ['core'],
    packages: ['@levischuck/tiny-cbor', 'canonicalize', 'jose', 'zod/mini'],
    node: true,
  },
  rules: { rooms: ['receipt', 'contract', 'core'], packages: [], node: true },
  client: {
    rooms: ['contract', 'core'],
    packages: ['@levischuck/tiny-cbor', '@simplewebauthn/server', 'ipaddr.js', 'undici', 'zod/mini'],
    node: true,
  },
  tools: {
    rooms: ['contract', 'core'],
    packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/server', 'undici', 'zod/mini'],
    node: true,
  },
  asking: { rooms: ['tools', 'client', 'receipt', 'contract', 'core'], packages: [], node: true },
  // Its packages are those of client and receipt, which it reaches through them.
  library: { rooms: ['asking', 'client', 'receipt', 'contract', 'core'], packages: [], node: true },
  page: { rooms: ['contract'], packages: ['@simplewebauthn/browser', 'uqr'], node: false },
  service: {
    rooms: ['contract', 'factors', 'rules', 'receipt', 'client', 'tools', 'core'],
    packages: [
      '@hono/node-server',
      '@simplewebauthn/server',
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
    rooms: ['contract', 'factors', 'rules', 'receipt', 'client', 'tools', 'asking', 'core'],
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
      'jsonc-parser',
      'smol-toml',
      'string-width',
      'uqr',
      'yaml',
      'zod/mini',
    ],
    node: true,
  },
}
// From the bottom up: an import goes to its own entry or to a lower floor.
export const floors: Record<string, string[][]> = {
  asking: [
    ['progress.ts', 'separation.ts', 'subject.ts', 'surroundings.ts'],
    ['proof.ts'],
    ['backend.ts'],
    ['outcome.ts', 'rest.ts', 'tool-server.ts', 'wait.ts'],
    ['ask.ts'],
  ],
  tools: [['client', 'server']],
  service: [
    ['config', 'storage'],
    ['call'],
    ['keys', 'limits', 'policy'],
    ['custody', 'delivery', 'devices', 'machines'],
    ['approvals', 'events', 'members'],
    ['page', 'mobile', 'verifications'],
    ['handlers', 'http'],
    ['mcp'],
    ['lifecycle'],
  ],
  page: [
    ['language'],
    ['calls'],
    ['shell'],
    ['agents', 'away', 'enrollment', 'groups', 'mutes', 'notifications'],
    ['devices', 'request', 'worker'],
    ['history'],
    ['members'],
    ['inbox'],
    ['start'],
  ],
  cli: [
    ['terminal'],
    ['context'],
    ['program'],
    ['operation'],
    ['declare'],
    ['approve', 'demo', 'events', 'profile'],
    ['bulk', 'completion', 'doctor', 'extension', 'hook', 'mcp', 'serve', 'top'],
    ['guard', 'picture'],
    ['main.ts'],
  ],
}
const doors = new Set(
  ['serve/serve-command', 'serve/service-command', 'demo/command', 'doctor/database'].map(
    (name) => `src/cli/${name}.ts`,
  ),
)
export const entry = 'src/main.ts'

export const roomOf = (file: string): string => file.split('/')[1] ?? ''

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

/** Imports that the table does not allow. */
export const violations = (sources: readonly Source[]): string[] =>
  sources
    .flatMap((source) => source.imports)
    .filter((one) => !allowed(one))
    .map((one) => `${one.from} -> ${one.to}`)

export const entryOf = (file: string): string => file.split('/')[2] ?? ''

/** Imports between the entries of a room that go up or sideways, and entries that no floor lists. */
export const climbs = (sources: readonly Source[]): string[] =>
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
export const cycles = (sources: readonly Source[]): string[][] => {
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
export const speaksDialect = ({ file, text }: Source): boolean =>
  !file.startsWith('src/service/storage/') &&
  /sqlite|libsql|postgres/i.test(
    text.replaceAll(
      /open(?:Sqlite|Postgres)\b|\/storage\/(?:sqlite|postgres)\/|PostgreSQL|postgres:\/\//g,
      '',
    ),
  )

const vagueName = /(?:^|\/)(?:utils?|helpers?|common|managers?|index|misc|shared)(?:\.ts|\/)/
export const badName = (file: string): boolean =>
  vagueName.test(file) || !/^src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+(?:\.d)?\.ts$/.test(file)
