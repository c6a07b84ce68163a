import { org } from '../../contract/org.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Extension, type Extensions, withExtras } from '../operation/operation-command.ts'

/** Whoever is asked for the name is also asked for the slug, which each later command names. */
const withSlug = (operation: Operation): Extension =>
  withExtras(operation, (context, { options }) => ({
    complete: async (input) => {
      if (options['name'] !== undefined || input['slug'] !== undefined) return
      const { slug } = await import('../../contract/records.ts')
      const { slugify } = await import('../../core/ids.ts')
      const derived = slugify(String(input['name']))
      const prompt = await context.prompt()
      const typed = await prompt?.text(`Slug, a short name for commands; empty for ${derived}`, {
        validate: (text) =>
          text.trim() === '' || (slug.safeParse(text.trim()).error?.issues[0]!.message ?? true),
      })
      if (typed?.trim()) input['slug'] = typed.trim()
    },
  }))

export const orgExtensions: Extensions = new Map<Operation, Extension>(
  [org.createOrganization, org.onboardOrganization].map((operation) => [operation, withSlug(operation)]),
)
