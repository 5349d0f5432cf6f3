import { formatUnits } from '../../formats.ts'
import type { transfers as english } from '../en/transfers.tsx'
import { values } from './values.tsx'

export const transfers: typeof english = {
  user: id => `Benutzer ${id}`,
  form: {
    to: 'An',
    toAbout: 'Die ID eines Benutzers, ref: und eine Referenz, oder der Anfang eines Namens zur Auswahl.',
    found: 'Gefundene Benutzer',
    unknown: id => `Über Benutzer ${id} ist noch nichts bekannt. Die Einheiten machen ihn bekannt: Die ID prüfen.`,
    noneFound: 'Kein Benutzer gefunden.',
    units: 'Einheiten',
    unitsAbout: available =>
      `Bis zu ${values.units(available)} können gehen: was in diesem Zeitraum weder verbraucht noch reserviert ist.`,
    reason: 'Grund',
    reasonAbout: 'Steht im Verlauf beider Kontingente. Kann leer bleiben.',
    end: 'Ende',
    endAbout: (end, zone) =>
      end === null
        ? `Leer lassen, wenn die Einheiten nie enden. Zeiten in ${zone}.`
        : `Leer lassen: Die Einheiten enden mit den übrigen am ${end}. Früher ist möglich. Zeiten in ${zone}.`,
    result: (units, user, left) => (
      <>
        {user} bekommt ein Paket mit {values.units(units)} für dieselben Nachrichten. {formatUnits(left)} bleiben hier.
      </>
    ),
    submit: 'Einheiten übertragen',
    done: (units, user) => `${values.units(units)} an ${user} übertragen.`,
    notEnough: available =>
      available === 0 ? 'Nichts ist übrig, was gehen kann.' : `Nur ${values.units(available)} können jetzt gehen.`,
    earlier:
      'Ein früherer Versuch dieses Dialogs hat andere Einheiten übertragen. Bitte schließen und die Übertragungen des Benutzers ansehen.',
    errors: {
      to: 'Die ID eines Benutzers eingeben, oder ref: und eine Referenz, oder einen gefundenen wählen.',
      unknownReference: 'Kein Benutzer hat diese Referenz.',
      units: 'Eine ganze Zahl ab 1 eingeben.',
      reason: 'Höchstens 500 Zeichen verwenden.',
      end: 'Eine Zeit in der Zukunft eingeben, die nicht nach dem Ende der Einheiten liegt.',
    },
  },

  list: {
    table: 'Übertragungen',
    about: 'Einheiten, die dieser Benutzer abgegeben oder bekommen hat.',
    columns: {
      with: 'Mit',
      units: 'Einheiten',
      grants: 'Pakete',
      reason: 'Grund',
      end: 'Ende',
      made: 'Übertragen',
      action: 'Aktion',
    },
    to: user => <>An {user}</>,
    from: user => <>Von {user}</>,
    within: 'An ein anderes Paket dieses Benutzers',
    erased: 'gelöschter Benutzer',
    grants: (from, to) => (
      <>
        {from} → {to}
      </>
    ),
    erasedGrant: 'gelöscht',
    returned: units => `${formatUnits(units)} zurückgegeben`,
    never: 'Nie',
    by: (at, actor) => (
      <>
        {at} von {actor}
      </>
    ),
    none: 'Keine Übertragungen',
    noneAbout: 'Hier erscheinen Einheiten, die an diesen oder von diesem Benutzer übertragen wurden.',
  },

  giveBack: {
    give: {
      title: 'Einheiten zurückgeben',
      submit: 'Zurückgeben',
      of: units => `Zurückgeben, von ${values.units(units)}`,
    },
    take: {
      title: 'Einheiten zurückholen',
      submit: 'Zurückholen',
      of: units => `Zurückholen, von ${values.units(units)}`,
    },
    about: (units, from, to) => (
      <>
        {values.units(units)} gingen von {from} an {to}.
      </>
    ),
    units: 'Einheiten',
    unitsAbout: unused =>
      unused === null
        ? 'Leer lassen für alle unverbrauchten.'
        : `Leer lassen für alle unverbrauchten: jetzt ${values.units(unused)}.`,
    result: (from, has, to, left) => (
      <>
        {has === null ? (
          <>Der Zeitraum, aus dem sie kamen, ist vorbei: {from} bekommt keine zum Senden</>
        ) : (
          <>
            {from} hat dann noch {values.units(has)}
          </>
        )}
        , {to} behält {formatUnits(left)}.
      </>
    ),
    done: (returned, units) => `Von ${values.units(units)} sind jetzt ${formatUnits(returned)} zurückgegeben.`,
    earlier:
      'Ein früherer Versuch dieses Dialogs hat andere Einheiten zurückgegeben. Bitte schließen und die Liste ansehen.',
  },

  history: {
    gave: (units, user) => (
      <>
        {values.units(units)} {user && <>an {user} </>}übertragen
      </>
    ),
    got: (units, user) => (
      <>
        {values.units(units)} {user && <>von {user} </>}bekommen
      </>
    ),
    gaveBack: (units, user) => (
      <>
        {values.units(units)} {user && <>an {user} </>}zurückgegeben
      </>
    ),
    cameBack: (units, user) => (
      <>
        {units === 0 ? 'Einheiten eines vergangenen Zeitraums' : values.units(units)} {user && <>von {user} </>}
        zurückbekommen
      </>
    ),
  },
}
