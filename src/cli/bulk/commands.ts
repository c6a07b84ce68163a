import { reasonFlag } from '../operation/flags.ts'
import { orgFlag } from '../operation/need.ts'
import { defineCommand, together } from '../program/define-command.ts'
import type { TypedImport } from './import.ts'

const importUsers = defineCommand<TypedImport>({
  name: 'import',
  summary: 'Import users from a file; all rows are checked before the first is sent',
  usage: '<file> [flags]',
  args: ['[file]'],
  options: {
    ...orgFlag(),
    '--on-conflict <what>': 'How to handle users who already exist (fail|skip)',
    '--dry-run': 'Check the rows, print the first request and send nothing',
    ...reasonFlag,
  },
  examples: [
    'svc user import users.csv --org acme',
    'svc user import - --org acme --on-conflict skip < users.csv',
  ],
  scope: 'read and people',
  action: async (...run) => (await import('./import.ts')).runImport(...run),
})

const exportUsers = defineCommand<{ org?: string }>({
  name: 'export',
  summary: 'Export all active users as CSV that can be imported',
  options: { ...orgFlag() },
  examples: ['svc user export --org acme > users.csv'],
  scope: 'read',
  action: async ({ options }, context) => (await import('./export.ts')).runExport(options.org, context),
})

export const registerBulk = together(importUsers, exportUsers)
