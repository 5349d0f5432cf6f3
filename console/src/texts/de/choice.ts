import type { choice as english } from '../en/choice.ts'

export const choice: typeof english = {
  none: 'Kein passender Eintrag',
  notChosen: text => `„${text}“ ist nicht gewählt. Bitte einen Eintrag der Liste wählen.`,
}
