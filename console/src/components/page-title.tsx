import { Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import classes from './page-title.module.css'

/** Sets the title of the browser tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · sms-quota`
  }, [title])
}

/** The h1 of a page with a subtitle and the page's actions. */
export function PageTitle({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  usePageTitle(title)
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mb="lg">
      <div className={classes.text}>
        <Title order={1} size="h3">
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" c="dimmed" mt={2}>
            {about}
          </Text>
        )}
      </div>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  )
}
