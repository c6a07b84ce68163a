import { administration } from './administration.ts'
import { lostPhone, newPhone, secondPhone } from './enrollment.ts'
import { decisions, endings } from './requests.ts'
import type { Steps, Way } from './way.ts'

/** Every screen of the page in every state, in the order in which a phone meets them. */
export const journeys: Record<string, (way: Way) => Steps> = {
  'a new phone': newPhone,
  'a second phone': secondPhone,
  'a lost phone': lostPhone,
  decisions,
  endings,
  administration,
}
