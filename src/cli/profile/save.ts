import type { Context } from '../context/context.ts'
import { shownProfile } from './present.ts'
import type { ProfileFile } from '../context/profile-file.ts'
import { createStore } from '../context/profile-store.ts'

type Saving = {
  /** The profile that is about to be changed. */
  name: string
  /** Fails where the change cannot be made. */
  change(file: ProfileFile): void
  /** Reported once it is saved. */
  message: string
  dryRun?: boolean
}

/** Saves a change to the profile file; with `dryRun`, shows the profile as it would be and saves nothing. */
export const saveProfile = async (
  { name, change, message, dryRun }: Saving,
  context: Context,
): Promise<void> => {
  const store = createStore(context.io)
  const output = await context.output()
  if (!dryRun) {
    await store.update(change)
    context.changed = true
    return output.show({ status: 'success', message })
  }
  const file = store.read()
  change(file)
  const after = file.profiles[name]
  await output.show({
    status: 'dry_run',
    message: 'Nothing was saved',
    data: after ? shownProfile(name, after, context.globals.reveal === true) : { name, removed: true },
  })
  output.note('Nothing was saved.')
}
