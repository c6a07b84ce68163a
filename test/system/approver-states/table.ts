import { administration } from './administration.ts'
import { answers, places, reports } from './answers.ts'
import { browsers, safari } from './browsers.ts'
import { lostPhone, newPhone, secondPhone } from './enrollment.ts'
import { decisions, endings } from './requests.ts'
import { agents, settings } from './settings.ts'
import { addresses, standing, twoDevices } from './variants.ts'
import type { Steps, Way } from './way.ts'

type Journeys = Record<string, (way: Way) => Steps>

/** Every screen of the page. That of an administrator comes first, while there are few members. */
export const journeys: Journeys = {
  administration,
  'a new phone': newPhone,
  'a second phone': secondPhone,
  'a lost phone': lostPhone,
  browsers,
  'an iPhone': safari,
  decisions,
  answers,
  reports,
  places,
  endings,
  settings,
  agents,
}

/** The same and the states that are only worth a picture: the layout of each is that of one above. */
export const pictured: Journeys = { ...journeys, addresses, 'two devices': twoDevices, standing }
