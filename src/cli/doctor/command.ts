import { defineCommand } from '../program/define-command.ts'

/** `svc doctor`: shows what works, what does not, and what to type next. */
export const registerDoctor = defineCommand<{ databaseUrlFile?: string }>({
  options: {
    '--database-url-file <file>': 'Also check the database whose URL this file contains; or SVC_DATABASE_URL',
  },
  examples: ['svc doctor', 'svc doctor --profile prod -o json'],
  action: async ({ options }, context) => {
    const { examine } = await import('./examine.ts')
    const { reportFindings } = await import('./report.ts')
    await reportFindings(await examine(context, options.databaseUrlFile), context, { code: 'unwell' })
  },
})
