import { agents } from './agents.ts'
import { away } from './away.ts'
import { codes } from './codes.ts'
import { devices } from './devices.ts'
import { grants } from './grants.ts'
import { members } from './members.ts'
import { newcomers } from './newcomers.ts'
import { notifications } from './notifications.ts'
import { requests } from './requests.ts'
import type { Scenario } from './scene.ts'

/** What a person does so that the page calls an operation, by its id. A further scenario of the same call has a comma. */
export const scenarios: Record<string, Scenario> = {
  ...newcomers,
  ...requests,
  ...members,
  ...devices,
  ...notifications,
  ...agents,
  ...grants,
  ...away,
  // Its last one turns the clock of the service forward.
  ...codes,
}
