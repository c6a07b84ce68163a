import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { memoryFolder } from './test/memory-folder.mts'
import { patienceMs } from './test/patience.mts'

// Tests see nothing of the person who runs them: an empty home folder, and only these variables.
const kept =
  /^(?:PATH|TMPDIR|TERM|CI|NO_COLOR|FORCE_COLOR|PROMTOOL|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:SVC_TEST|VITEST|npm)_\w+)$/
const memory = memoryFolder()
if (memory !== undefined) process.env['TMPDIR'] = memory
const home = mkdtempSync(join(tmpdir(), 'svc-home-'))
process.on('exit', () => rmSync(memory ?? home, { recursive: true, force: true }))
for (const name of Object.keys(process.env)) if (!kept.test(name)) delete process.env[name]
Object.assign(process.env, { HOME: home, LANG: 'C.UTF-8' })

// A test waits several times.
const patience = {
  testTimeout: 2.5 * patienceMs,
  hookTimeout: 2.5 * patienceMs,
  expect: { poll: { timeout: patienceMs } },
}

// Started last, one of these would run alone. Vitest starts the largest files first, or those that took long the last time.
const longest = ['docs', 'page-states', 'page-network', 'page-calls']

// `.ci/long` runs the slow tests whole.
const isWhole = process.env['SVC_TEST_WHOLE'] === '1'

// Clients and servers of others, which npm has to fetch, the other browser, and what takes long and seldom breaks alone.
const left = [
  'test/system/{clients,completions,conformance*,library,postgres-{doctor,maintenance,move,nodes},verify-email}.test.ts',
  'test/system/page-{asking,browsers,ceremonies,clock,deny,desktop,devices,firefox,held,history,journeys,keyboard,language}.test.ts',
  'test/system/page-{further,links,lost-device,network,notification,open,organizations,own-devices,own-fields}.test.ts',
  'test/system/page-{place,repeat}.test.ts',
  'test/system/page-{settings,several,signed-out,speech,speed,states,storage,tabs,terminal,truth,whole}.test.ts',
]

// Whole journeys of the built program whose parts are tested in process: those that take long and seldom break alone.
const leftJourneys =
  'test/e2e/{damaged-store,github-rule,jq-without-end,kept-owner,long-lists,mcp-elsewhere,mcp-several}.test.ts'

const placeOf = ({ moduleId }: TestSpecification): number => {
  const at = longest.findIndex((name) => moduleId.endsWith(`/test/system/${name}.test.ts`))
  return at === -1 ? longest.length : at
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

// `node` needs Node alone, and `postgres` PostgreSQL. `system` needs all that `.ci/run` installs, shells and a browser too.
export default defineConfig({
  test: {
    // Half of the time goes into child processes and fsync, so as many files run at a time as there are cores.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**', 'test/service/storage/postgres/**', ...(isWhole ? [] : [leftJourneys])],
          ...patience,
          // Files that run in one worker share what they import. Hooks are therefore installed by a call, never by an import.
          pool: 'forks',
          isolate: false,
          // Short tests make much garbage, which is collected less often in more room.
          execArgv: ['--max-semi-space-size=64'],
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['test/service/**/*.test.ts'],
          // A data folder, its file and its triggers are of the embedded store.
          exclude: [
            'test/service/approvals/altered-request.test.ts',
            'test/service/storage/sqlite/**',
            'test/service/custody/data-folder/**',
            'test/service/lifecycle/{backup,data-dir,open-store,restored,running-service,serve}.test.ts',
            // What stores little of its own.
            ...(isWhole
              ? []
              : [
                  'test/service/{config,custody,delivery,events,http,machines,mcp,mobile,page,verifications}/**',
                ]),
          ],
          globalSetup: 'test/service/storage/postgres-setup.ts',
          env: { SVC_TEST_STORE: 'postgres' },
          ...patience,
          pool: 'forks',
          isolate: false,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          exclude: isWhole ? [] : left,
          ...patience,
          pool: 'forks',
          isolate: false,
        },
      },
    ],
  },
})
