/** The client package for programs that import it by its name. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT } from './paths.ts'

/** The package as its sources: what it exports, in types and code. */
const EXPORTS = {
  '.': { types: './client/src/main.ts', default: './client/src/main.ts' },
  './journal': { types: './client/src/node/journal.ts', default: './client/src/node/journal.ts' },
  './testing': { types: './client/src/testing.ts', default: './src/fake/main.ts' },
}

/** Makes `sms-quota-client` importable in this folder without building it. Node.js and the compiler read its sources. */
export async function installClient(folder: string): Promise<void> {
  const home = join(folder, 'node_modules/sms-quota-client')
  await mkdir(home, { recursive: true })
  for (const source of ['client', 'src']) await symlink(join(PROJECT, source), join(home, source))
  await writeFile(join(home, 'package.json'), JSON.stringify({ type: 'module', exports: EXPORTS }))
}
