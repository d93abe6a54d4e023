/** drawDeed: what a server or a program does, each with its share of the episodes. The last deed takes what is left. */
export function drawDeed<Deed extends { share: number }>(deeds: readonly Deed[], drawn: number): Deed {
  let below = 0;
  return deeds.find(({ share }) => {
    below += share;
    return drawn < below;
  })!;
}
