import { administration } from './administration.ts'
import { answers, places, reports } from './answers.ts'
import { browsers } from './browsers.ts'
import { lostPhone, newPhone, secondPhone } from './enrollment.ts'
import { decisions, endings } from './requests.ts'
import { agents, settings } from './settings.ts'
import type { Steps, Way } from './way.ts'

/** Every screen of the page in every state. That of an administrator comes first, while there are few members. */
export const journeys: Record<string, (way: Way) => Steps> = {
  administration,
  'a new phone': newPhone,
  'a second phone': secondPhone,
  'a lost phone': lostPhone,
  browsers,
  decisions,
  answers,
  reports,
  places,
  endings,
  settings,
  agents,
}
