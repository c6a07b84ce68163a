import { textSubject, type Subject } from '../../src/receipt/subject.ts'

// One subject of each type.

export const hash = 'a'.repeat(64)
export const command = {
  type: 'command',
  data: {
    argv: ['./deploy.sh', '--to', 'two words'],
    cwd: '/srv/app',
    executable: { path: '/srv/app/deploy.sh', sha256: hash },
    files: [{ path: '/srv/app/plan.json', sha256: 'b'.repeat(64) }],
    environment: { passed: ['HOME', 'PATH'], set: { STAGE: 'prod' } },
  },
} satisfies Subject
export const update = {
  type: 'request',
  data: {
    organization: { id: '7', slug: 'acme' },
    operation: 'updateGeofence',
    body: { name: 'Headquarters', radius: 300 },
    before: { radius: 150 },
  },
} satisfies Subject
export const bulk = {
  type: 'request',
  data: {
    organization: { id: '7', slug: 'acme' },
    operation: 'import users',
    body: {},
    counts: { create: 5, delete: 2 },
    deletions: ['Ada Lovelace', 'Bob\u202e Stone'],
    file: { name: 'users.csv', sha256: hash },
  },
} satisfies Subject
export const file = {
  type: 'file',
  data: { name: 'release.tgz', size: 1234, sha256: hash },
} satisfies Subject
export const tool = {
  type: 'tool_call',
  data: { server: 'github', tool: 'delete_repository', arguments: { owner: 'acme', force: true } },
} satisfies Subject
export const changedTool = {
  type: 'tool_call',
  data: {
    ...tool.data,
    parameters: { task: { ttl: 60 } },
    definition: {
      sha256: hash,
      changed: {
        before: 'b'.repeat(64),
        description: { before: 'Deletes a branch', now: 'Deletes\u202e all' },
      },
    },
  },
} satisfies Subject
export const text = textSubject('Deploy 4.2 to production')
