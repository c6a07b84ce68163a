import { defineConfig } from 'vitest/config'

// `node` needs Node alone. `system` needs what `.ci/run` installs: shells, a browser, PostgreSQL.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**'],
          testTimeout: 20_000,
        },
      },
      { test: { name: 'system', include: ['test/system/**/*.test.ts'], testTimeout: 60_000 } },
    ],
  },
})
