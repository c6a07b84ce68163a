import { type Ended } from './processes.ts'
import { svcHere } from './prepare.ts'

/** Creates a geofence in the organization acme. */
export const createGeofence = (name: string, env: Record<string, string>): Promise<Ended> =>
  svcHere(
    `geofence create --org acme --name ${name} --latitude 1 --longitude 2 --radius 3 --is-active 1`,
    env,
  )
