import { createStore } from '../../../src/cli/context/profile-store.ts'

// A separate process that adds one profile to the file in SVC_CONFIG_DIR, or is killed while it holds the lock.
const [name = '', mode] = process.argv.slice(2)
const store = createStore({ env: process.env, cwd: process.cwd() })
void store.update((file) => {
  if (mode === 'die') process.kill(process.pid, 'SIGKILL')
  file.profiles[name] = { base_url: 'http://127.0.0.1:8080/admin/public/api', org: name }
})
