/**
 * The healer. Its packages are the path of one fact: intake → detect → incident → decide → journal → web and cli.
 */
@NullMarked
package dev.unhang.healer;

import org.jspecify.annotations.NullMarked;
