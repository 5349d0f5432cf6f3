import type { increaseRequests as english } from '../en/increase-requests.tsx'
import { values } from './values.tsx'

export const increaseRequests: typeof english = {
  title: 'Anfragen nach mehr Einheiten',
  about:
    'Benutzer fragen unter „Meine Kontingente“ oder über die API, Support-Mitarbeiter für sie. Dort steht dann die Antwort.',
  ownTitle: 'Meine Anfragen nach mehr Einheiten',
  openTitle: 'Anfragen nach mehr Einheiten',
  show: 'Anzeigen',
  states: { open: 'Offen', approved: 'Genehmigt', declined: 'Abgelehnt', withdrawn: 'Zurückgezogen' },
  all: 'Alle',
  none: 'Keine Anfrage ist offen',
  noneAbout: 'Anfragen erscheinen hier, wenn Benutzer um mehr Einheiten bitten.',
  columns: {
    user: 'Benutzer',
    units: 'Angefragt',
    reason: 'Grund',
    quota: 'Für',
    created: 'Gefragt',
    status: 'Zustand',
    action: 'Aktion',
  },
  until: at => <>bis {at}</>,
  forGood: 'auf Dauer',
  given: (units, end) => (
    <>
      {values.units(units)} gegeben {end}
    </>
  ),
  by: (actor, at) => (
    <>
      {actor}, {at}
    </>
  ),
  approve: 'Genehmigen…',
  decline: 'Ablehnen…',
  askAdministrator: 'Mehr, als diese Rolle entscheidet: Das entscheidet die Verwaltung.',
  approveFor: (user, units) => `${values.units(units)} für ${user} genehmigen`,
  declineFor: (user, units) => `${values.units(units)} für ${user} ablehnen`,
  user: id => `Benutzer ${id}`,
  takeBack: 'Zurückziehen',
  takeBackOf: units => `Die Anfrage nach ${values.units(units)} zurückziehen`,
  takenBack: 'Die Anfrage ist zurückgezogen.',

  ask: {
    open: 'Mehr anfragen…',
    title: 'Mehr Einheiten anfragen',
    quota: 'Für',
    quotaAbout: 'Was die Einheiten bekommt.',
    units: 'Einheiten',
    duration: 'Wie lange',
    durations: {
      window: end => <>Bis dieser Zeitraum endet: {end}</>,
      day: 'Für 24 Stunden',
      always: 'Auf Dauer',
    },
    reason: 'Grund',
    reasonAbout: 'Administratoren lesen ihn, wenn sie entscheiden.',
    errors: {
      units: 'Geben Sie eine ganze Zahl ab 1 ein.',
      until: 'Diese Zeit ist vorbei. Wählen Sie eine andere.',
      reason: 'Geben Sie einen Grund mit höchstens 500 Zeichen ein.',
    },
    submit: 'Anfragen',
    none: 'Sie haben jetzt kein Paket mit einem Limit, das mehr Einheiten bekommen könnte.',
    sent: units =>
      `Ihre Anfrage nach ${values.units(units)} ist gesendet. Die Antwort steht dann unter „Meine Kontingente“.`,
    approved: (units, end) => (
      <>
        Sie haben {values.units(units)} bekommen, {end}.
      </>
    ),
    close: 'Schließen',
  },

  decision: {
    title: 'Anfrage nach mehr Einheiten',
    asks: (user, units, end, quota) => (
      <>
        {user} bittet um {values.units(units)} {end}: {quota}
      </>
    ),
    units: 'Einheiten',
    unitsAbout: bound =>
      bound === null ? undefined : `Ihre Rolle darf einem Benutzer am Tag bis zu ${values.units(bound)} geben.`,
    until: 'Bis',
    untilAbout: 'Leer: auf Dauer. Das Limit des Pakets wird erhöht.',
    note: 'Anmerkung',
    noteAbout: 'Der Benutzer liest sie.',
    errors: {
      units: 'So viele Einheiten gehen nicht. Geben Sie eine ganze Zahl ab 1 ein.',
      until: 'Geben Sie eine Zeit in der Zukunft ein, oder keine.',
      note: 'Geben Sie höchstens 500 Zeichen ein.',
    },
    submit: { approve: 'Genehmigen', decline: 'Ablehnen' },
    instead: { approve: 'Stattdessen ablehnen', decline: 'Stattdessen genehmigen' },
    approved: (user, units) => `Genehmigt: ${user} bekommt ${values.units(units)}.`,
    declined: user => `Abgelehnt: die Anfrage von ${user}.`,
    notFound: 'Diese Anfrage gibt es nicht mehr',
    notFoundAbout: 'Entschiedene Anfragen bleiben nur eine Zeit lang gespeichert.',
  },
}
