import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Started last, one of these would run alone. Vitest starts the largest files first, or those that took long the last time.
const longest = ['docs', 'approver-states', 'approver-calls', 'approver-network']

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
          exclude: ['test/system/**', 'test/service/storage/postgres/**'],
          testTimeout: 20_000,
          // Hooks start the same processes as tests.
          hookTimeout: 20_000,
          // Files that run in one worker share what they import. Hooks are therefore installed by a call, never by an import.
          pool: 'forks',
          isolate: false,
          // What is polled for comes at once, but a busy machine may take longer than the default second.
          expect: { poll: { timeout: 10_000 } },
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['test/service/**/*.test.ts'],
          // A data folder and its file, and the stores of earlier releases, are of the embedded store.
          exclude: [
            'test/service/storage/{sqlite,migrations}/**',
            'test/service/custody/data-folder/**',
            'test/service/lifecycle/{backup,data-dir,open-store,restored,running-service,serve}.test.ts',
          ],
          globalSetup: 'test/service/storage/postgres-setup.ts',
          testTimeout: 20_000,
          // Hooks start the same processes as tests.
          hookTimeout: 20_000,
          pool: 'forks',
          isolate: false,
          expect: { poll: { timeout: 10_000 } },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          pool: 'forks',
          isolate: false,
          expect: { poll: { timeout: 10_000 } },
        },
      },
    ],
  },
})
