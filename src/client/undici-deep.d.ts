// The package types its index only; these are the same classes, without the rest of undici in the bundle.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  export { EnvHttpProxyAgent as default } from 'undici'
}
declare module 'undici/lib/api/api-connect.js' {
  const connect: import('undici').Dispatcher['connect']
  export default connect
}
