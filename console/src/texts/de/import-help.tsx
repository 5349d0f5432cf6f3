import { formatUnits } from '../../formats.ts'
import type { importHelp as english } from '../en/import-help.tsx'

export const importHelp: typeof english = {
  quotas:
    'Um Kontingente anzulegen und zu ändern: Mit den Spalten user_id, external_ref und limit ist jede Zeile ein Kontingent. Eine bekannte Referenz wird aktualisiert, eine andere angelegt. Eine exportierte Datei ändert die Kontingente, die sie mit id nennt. Um Benutzern Tarife zu geben: Die Spalten sind user_id (oder user_ref) und plan, mit dem Namen oder der id des Tarifs. Vorher wird geprüft.',
  users: (users, units) =>
    `Um Benutzern mehr Einheiten zu geben, heißt die Spalte ihrer Nummern wie eines von ${users}. Für unterschiedliche Einheiten kommt eine Spalte dazu, die wie eines von ${units} heißt. Andere Spalten zählen nicht. Wie viele Einheiten, wie lange und warum, wird danach gefragt, und vor jeder Änderung kommt eine Vorschau. Eine Liste nur mit Nummern kann auch einen Tarif bekommen. Zum Beispiel:`,
  template: 'Vorlage herunterladen',
  columns: 'Spalten von Kontingenten, mit Beispielen',
  head: { column: 'Spalte', example: 'Beispiel', about: 'Bedeutung' },
  aboutColumns: {
    id: 'Das Kontingent, das die Zeile ändert, wie in einem Export.',
    user_id: 'Wessen Kontingent es ist.',
    user_ref: 'Der Benutzer mit seiner Referenz, anstelle von user_id.',
    kind: 'grant (Paket) oder cap (Obergrenze). Ohne Angabe: grant.',
    period: 'hour, day, week, month oder year; minute für Obergrenzen mit per. Ohne Angabe: einmalig.',
    anchor: 'Der Tag, an dem Monate beginnen, oder das Datum von Jahren: 04-01.',
    time_zone: 'Wo der Zeitraum um Mitternacht beginnt.',
    per: 'Bei Obergrenzen: Das Limit gilt je recipient (Empfänger), country (Land) oder tag.',
    counts: 'Bei Obergrenzen: units (Einheiten) oder messages (Nachrichten).',
    name: 'Wie Menschen es nennen.',
    limit: 'Einheiten je Zeitraum, nur Ziffern. null ist unbegrenzt.',
    rollover_limit: 'So viele nicht verbrauchte Einheiten gehen höchstens in den nächsten Zeitraum über.',
    overage_limit: 'Wie weit ein Paket über sein Limit gehen darf.',
    priority: 'Von 0 bis 255. Das kleinere zahlt zuerst.',
    starts_at: 'Ein Tag oder eine Zeit. Ohne Angabe: jetzt.',
    expires_at: 'Ein Tag oder eine Zeit. Ohne Angabe: nie.',
    countries: 'Ländercodes mit Leerzeichen dazwischen. Ohne Angabe: alle.',
    message_types: 'Arten mit Leerzeichen dazwischen. Ohne Angabe: alle.',
    alert_at: 'Bei wie viel Prozent Verbrauch gewarnt wird.',
    enabled: 'true oder false. false setzt es aus.',
    external_ref: 'Ihr eigener Name dafür. Ein bekannter wird aktualisiert.',
    metadata: 'Weitere eigene Werte, als JSON.',
    opening_used: 'Einheiten, die in diesem Zeitraum schon anderswo verbraucht wurden.',
    allow_below_usage: 'true erlaubt ein Limit unter dem Verbrauch.',
    plan: 'Der Tarif, den der Benutzer bekommt, mit Name oder id.',
  },
  units: 'Einheiten geben',
  plan: 'Tarif geben',
  planFor: users => `Ein Tarif für ${formatUnits(users)} Benutzer`,
  aboutPlan:
    'Jeder Benutzer bekommt alle Kontingente des Tarifs, anstelle derer des Tarifs davor. Eigene Kontingente der Benutzer bleiben daneben.',
  planLabel: 'Tarif',
  choosePlan: 'Bitte einen Tarif wählen',
  version: (name, version) => `${name}, Fassung ${version}`,
  check: 'Prüfen (ändert nichts)',
}
