import { org } from '../../contract/org.ts'
import { extended } from '../operation/operation-command.ts'

/** Whoever is asked for the name is also asked for the slug, which each later command names. */
export const orgExtensions = extended(
  [org.createOrganization, org.onboardOrganization],
  (context, { options }) => ({
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
  }),
)
