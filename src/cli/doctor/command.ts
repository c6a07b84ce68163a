import type { Command } from 'commander'
import type { Context } from '../context/context.ts'

/** `svc doctor`: shows what works, what does not, and what to type next. */
export const registerDoctor = (command: Command, context: Context): void => {
  command
    .usage('[flags]')
    .option(
      '--database-url-file <file>',
      'Also check the database whose URL this file contains; or SVC_DATABASE_URL',
    )
    .addHelpText('after', '\nExample:\n  svc doctor\n  svc doctor --profile prod -o json')
    .action(async () => {
      const { examine } = await import('./examine.ts')
      const { reportFindings } = await import('./report.ts')
      await reportFindings(
        await examine(context, command.opts<{ databaseUrlFile?: string }>().databaseUrlFile),
        context,
        { code: 'unwell' },
      )
    })
}
