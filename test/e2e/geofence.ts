import { svc, type Ended } from './processes.ts'

/** Creates a geofence in the organization acme. */
export const createGeofence = (name: string, env: Record<string, string>): Promise<Ended> =>
  svc(`geofence create --org acme --name ${name} --latitude 1 --longitude 2 --radius 3 --is-active 1`, env)
