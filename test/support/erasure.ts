import { REFERENCE_FORGOTTEN_MS } from '../../src/domain/time/memories.ts'
import { createEraser, type Eraser } from '../../src/jobs/erasure.ts'
import type { ErasureParts } from '../../src/jobs/erasure-pages.ts'

/** An eraser for which references are forgotten as soon as they are freed. */
export function createQuickEraser(parts: ErasureParts): Eraser {
  let ms = 0
  return createEraser({
    ...parts,
    monotonicMs() {
      ms += REFERENCE_FORGOTTEN_MS
      return ms
    },
  })
}

/** Erases until nothing is under way. */
export async function finishErasures(eraser: Eraser): Promise<void> {
  while ((await eraser.eraseOnce()).left !== null);
}
